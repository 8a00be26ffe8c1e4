# Test code that passes against solution.py when both share a process, and must pass apart.
assert LIMIT==7 and Point(1,2).x==1
assert math.sqrt(4)==2 and collections.Counter("aab")==cnt("aab") and type(cnt("a")) is collections.Counter
for v in [None,True,1,-1,2**200,-2**63,2**63,1.5,float('inf'),-0.0,1+2j,"a\ud800é",b"x\0",bytearray(b"q"),[1,[2]],(1,),{1:2,'a':[3]},{1,2},frozenset([1]),range(3,9,2),...,[1]*20,[1.5]*20,[2**70]*20,Decimal('1.10'),Fraction(1,3),datetime.datetime(2020,1,2,3,4,5),datetime.date(1,2,3),datetime.timedelta(1,2,3),deque([1,2],maxlen=5),OrderedDict(a=1),slice(1,2),int,ValueError]:
    r=ident(v)
    assert r==v and type(r) is type(v), v
import struct
n=ident(float('nan')); assert n!=n
assert str(ident(-0.0))=='-0.0'
l=[3]; d={}; s=set(); b=bytearray(b'zz'); keep=l
r=mut(l,d,s,b)
assert r is l and l==[3,1] and d['k'] is l and s=={9} and b==b'Az'
x=[3,1,2]; srt(x); assert x==[1,2,3]
nested=[[2,1],[4,3]]; inner=nested[0]
def _s(n):
    for q in n: srt(q)
_s(nested); assert inner==[1,2]
assert ident(x) is x
assert list(gen(4))==[0,1,4,9] and sum(gen(3))==5 and next(gen(1))==0
import types
assert isinstance(gen(1), types.GeneratorType)
assert apply(lambda a,b=2: a*b, 4)==8 and apply(max,1,5)==5 and apply(math.sqrt,9)==3 and apply(str.upper,'a')=='A'
assert apply(lambda f: f(2), adder(3))==5 and adder(5)(6)==11
assert keyed(['bb','a'],len)==['a','bb'] and keyed([1,2],key=lambda v:-v)==[2,1]
for k,E in (('v',ValueError),('k',KeyError),('z',ZeroDivisionError),('m',MyErr),('m',ValueError),('s',MyErr),('s',Sub),('x',SystemExit),('o',OSError)):
    try: boom(k)
    except E as e: err=e
    else: assert False
    if k=='v': assert str(err)=='bad value'
    if k=='m': assert err.code==9 and str(err)=='mine'
    if k=='o': assert err.errno==2
try: boom('v')
except KeyError: assert False
except ValueError: pass
p=Point(1,2)+Point(3,4)
assert p==Point(4,6) and p!=Point(1,1) and repr(p)=='Point(4, 6)' and p.twice==8 and Point(3,4).norm()==5
assert Point.origin()==Point(0,0) and isinstance(p,Point) and not isinstance(3,Point) and len({Point(1,1),Point(1,1)})==1
p.x=10; assert p.x==10 and ident(p) is p
st=Stack(); st.push(1); st.push([2]); assert len(st)==2 and st[0]==1 and list(st)==[1,[2]] and st.pop()==[2] and 1 in st
with Stack() as q: q.push(1)
assert st and not Stack()
try: Stack().pop()
except IndexError as e: assert str(e)=='empty'
assert Color.RED==Color.RED and Color.RED!=Color.BLUE and Color(1)==Color.RED and Color['BLUE'].value==2 and len(list(Color))==2 and Color.RED.name=='RED'
assert Num.ONE==1 and ident(Num.ONE)==1 and Num.ONE.name=='ONE'
assert nt()==(1,2) and nt().a==1 and nt().b==2 and isinstance(nt(),tuple) and str(nt())=='NT(a=1, b=2)' and nt()._asdict()=={'a':1,'b':2}
a,bb=nt(); assert bb==2
assert big()[0]==list(range(1000)) and big()[1]==[1.5]*100
z=dd(); assert z=={'a':[1]} and z['new']==[] 
assert all([]) is True and not all([False]) and abs(-3)==3
assert rec(900)==900
assert (p is not None) and p != None and not (p == None)
class Node:
    def __init__(self,v,*c): self.val=v; self.children=list(c)
n=Node(1,Node(2),Node(3)); assert usecb(n)==6; setcb(n); assert n.val==99
def secret(x): return 41
assert [k for k,v in peek(secret) if k not in ('__class__','__init__','__self__')]==[]
from solution import Point as P2; import solution
assert P2(1,2)==Point(1,2) and solution.LIMIT==7
class T:
    lim = LIMIT
    E = MyErr
    def go(self): return ident(LIMIT)
assert T.lim==7 and T().go()==7
assert list(map(ident,[1,2]))==[1,2]
import copy, functools
assert functools.reduce(lambda a,b: apply(lambda: a+b),[1,2,3])==6
dp=deep(200)
assert callable(ident) and not callable(p)
assert forkdie()==6
cyc=[1]; cyc.append(cyc); c2=ident(cyc); assert c2 is cyc
assert os.path.sep=='/'
try: undefined_name
except NameError: pass
else: assert False
import asyncio
assert asyncio.run(slow(4)) == 8
async def _both():
    return await asyncio.gather(slow(1), slow(2))
assert asyncio.run(_both()) == [2, 4]
try: asyncio.run(slow(-1))
except ValueError as e: assert str(e) == 'negative'
else: assert False
p1 = Point(1, 2); p2 = copy.deepcopy(p1); p2.x = 5
assert p1.x == 1 and p2.x == 5 and copy.copy(p1) == p1 and vars(p1) == {'x': 1, 'y': 2}
assert documented.__doc__ == 'What it does.' and documented.__name__ == 'documented' and 'norm' in dir(p1)
assert list(ordered()) == [3, 1] and ordered() == OrderedDict([(3, 4), (1, 2)]) != OrderedDict([(1, 2), (3, 4)])
