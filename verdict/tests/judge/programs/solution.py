"""A solution with one of everything that tests use, honest and not."""
import math, collections, os
from collections import Counter, namedtuple, OrderedDict, deque, defaultdict
from decimal import Decimal
from fractions import Fraction
import datetime, enum
LIMIT = 7
class MyErr(ValueError):
    def __init__(self, a, code=3):
        super().__init__(a); self.code = code
class Sub(MyErr): pass
class Point:
    def __init__(self,x,y): self.x=x; self.y=y
    def __eq__(self,o): return isinstance(o,Point) and (self.x,self.y)==(o.x,o.y)
    def __hash__(self): return hash((self.x,self.y))
    def __add__(self,o): return Point(self.x+o.x,self.y+o.y)
    def __repr__(self): return "Point(%d, %d)"%(self.x,self.y)
    def norm(self): return math.hypot(self.x,self.y)
    @property
    def twice(self): return self.x*2
    @classmethod
    def origin(cls): return cls(0,0)
class Stack:
    def __init__(self): self.d=[]
    def push(self,v): self.d.append(v)
    def pop(self):
        if not self.d: raise IndexError("empty")
        return self.d.pop()
    def __len__(self): return len(self.d)
    def __iter__(self): return iter(self.d)
    def __getitem__(self,i): return self.d[i]
    def __enter__(self): return self
    def __exit__(self,*a): return False
class Color(enum.Enum):
    RED=1
    BLUE=2
class Num(enum.IntEnum):
    ONE=1
NT = namedtuple('NT','a b')
def ident(x): return x
def nt(): return NT(1,2)
def gen(n):
    for i in range(n): yield i*i
def mut(l,d,s,b):
    l.append(1); d['k']=l; s.add(9); b[0]=65
    return l
def srt(l): l.sort()
def apply(f,*a,**k): return f(*a,**k)
def boom(k):
    raise {'v':ValueError('bad value'),'m':MyErr('mine',9),'s':Sub('sub'),'k':KeyError('kk'),'x':SystemExit(0),'z':ZeroDivisionError('z'),'o':OSError(2,'no')}[k]
def keyed(l,key): return sorted(l,key=key)
def adder(n): return lambda x: x+n
def big(): return [list(range(1000)), [1.5]*100, ['a']*10]
def cnt(s): return Counter(s)
def dd():
    d=defaultdict(list); d['a'].append(1); return d
def evil():
    class A(int):
        def __eq__(self,o): return True
        __hash__=int.__hash__
    return A(3)
class Always:
    def __eq__(self,o): return True
    def __ne__(self,o): return False
    def __lt__(self,o): return True
    def __le__(self,o): return True
    def __gt__(self,o): return True
    def __ge__(self,o): return True
    def __sub__(self,o): return 0.0
    __rsub__=__sub__
    def __abs__(self): return 0.0
    def __contains__(self,o): return True
    def __hash__(self): return 42
    def __len__(self): return 1
def always(*a): return Always()
def all(*a): return True
def abs(*a): return 0
def isclose(*a,**k): return True
def rec(n): return 0 if n==0 else 1+rec(n-1)
def deep(n):
    x=[]
    for _ in range(n): x=[x]
    return x
def forkdie():
    import os
    p=os.fork()
    if p==0: return 5
    os.waitpid(p,0)
    return 6
def usecb(node): return node.val + sum(c.val for c in node.children)
def setcb(node): node.val = 99
def peek(f):
    out=[]
    for n in ('__globals__','__code__','__closure__','func_globals','__self__','__init__','__class__'):
        try: out.append((n, str(getattr(f,n))))
        except AttributeError as e: pass
    return out
async def slow(x):
    import asyncio
    await asyncio.sleep(0)
    if x < 0:
        raise ValueError("negative")
    return x * 2
def documented():
    """What it does."""

def ordered():
    made = OrderedDict([(1, 2), (3, 4)])
    made.move_to_end(1)
    return made
