//! How each plain type crosses. It knows no frame and no call.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use super::wire::{Get, Put, Reader, Wrong, lenient, quote, wrong};

fn put_items<'a, T: Put + 'a>(out: &mut String, kind: &str, items: impl Iterator<Item = &'a T>) -> Result<(), Wrong> {
    out.push_str("{\"");
    out.push_str(kind);
    out.push_str("\":[");
    for (number, item) in items.enumerate() {
        if number > 0 {
            out.push(',');
        }
        item.put(out)?;
    }
    out.push_str("]}");
    Ok(())
}

macro_rules! whole_numbers {
    ($($kind:ty)*) => {$(
        impl Put for $kind {
            fn put(&self, out: &mut String) -> Result<(), Wrong> {
                out.push_str(&format!("{{\"i\":\"{self}\"}}"));
                Ok(())
            }
        }
        impl Get for $kind {
            fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
                from.plain("i")?.parse().or_else(|_none| wrong())
            }
        }
    )*};
}
whole_numbers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

macro_rules! fractions {
    ($($kind:ty)*) => {$(
        impl Put for $kind {
            fn put(&self, out: &mut String) -> Result<(), Wrong> {
                out.push_str(&format!("{{\"f\":\"{self:?}\"}}").to_lowercase());
                Ok(())
            }
        }
        impl Get for $kind {
            fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
                from.plain_one("f", "i")?.parse().or_else(|_none| wrong())
            }
        }
    )*};
}
fractions!(f32 f64);

impl Put for bool {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        out.push_str(if *self { "true" } else { "false" });
        Ok(())
    }
}
impl Get for bool {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        if from.take("true") {
            return Ok(true);
        }
        if from.take("false") { Ok(false) } else { wrong() }
    }
}

impl Put for () {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        out.push_str("null");
        Ok(())
    }
}
impl Get for () {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        from.want("null")
    }
}

impl Put for str {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        out.push_str("{\"s\":");
        quote(out, self);
        out.push('}');
        Ok(())
    }
}
impl Put for String {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        self.as_str().put(out)
    }
}
impl Get for String {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        from.plain("s")
    }
}
impl Put for char {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        self.to_string().put(out)
    }
}
impl Get for char {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        let text = from.plain("s")?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(c),
            _ => wrong(),
        }
    }
}

impl<T: Put + ?Sized> Put for &T {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        (**self).put(out)
    }
}
impl<T: Put + ?Sized> Put for &mut T {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        (**self).put(out)
    }
}
// What is only borrowed lives until the process ends.
impl<T: Get + 'static> Get for &'static T {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        Ok(Box::leak(Box::new(T::get(from)?)))
    }
}
impl Get for &'static str {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        Ok(Box::leak(String::get(from)?.into_boxed_str()))
    }
}
impl<T: Get + 'static> Get for &'static [T] {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        Ok(Box::leak(Vec::<T>::get(from)?.into_boxed_slice()))
    }
}

macro_rules! wrappers {
    ($($kind:ident)*) => {$(
        impl<T: Put> Put for $kind<T> {
            fn put(&self, out: &mut String) -> Result<(), Wrong> {
                (**self).put(out)
            }
        }
        impl<T: Get> Get for $kind<T> {
            fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
                Ok($kind::new(T::get(from)?))
            }
        }
    )*};
}
wrappers!(Box Rc Arc);

impl<T: Put> Put for [T] {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        put_items(out, "l", self.iter())
    }
}
impl<T: Put, const N: usize> Put for [T; N] {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        put_items(out, "l", self.iter())
    }
}
impl<T: Get, const N: usize> Get for [T; N] {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        Vec::<T>::get(from)?.try_into().or_else(|_other_length| wrong())
    }
}

macro_rules! sequences {
    ($($kind:ident $word:literal $add:ident [$($bound:path),*];)*) => {$(
        impl<T: Put> Put for $kind<T> {
            fn put(&self, out: &mut String) -> Result<(), Wrong> {
                put_items(out, $word, self.iter())
            }
        }
        impl<T: Get $(+ $bound)*> Get for $kind<T> {
            fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
                let mut items = $kind::new();
                from.items($word, |item| {
                    items.$add(item);
                })?;
                Ok(items)
            }
        }
    )*};
}
sequences! {
    Vec "l" push [];
    VecDeque "l" push_back [];
    LinkedList "l" push_back [];
    HashSet "set" insert [Eq, Hash];
    BTreeSet "set" insert [Ord];
}

macro_rules! maps {
    ($($kind:ident [$($bound:path),*];)*) => {$(
        impl<K: Put, V: Put> Put for $kind<K, V> {
            fn put(&self, out: &mut String) -> Result<(), Wrong> {
                out.push_str("{\"m\":[");
                for (number, (key, value)) in self.iter().enumerate() {
                    out.push_str(if number > 0 { ",[" } else { "[" });
                    key.put(out)?;
                    out.push(',');
                    value.put(out)?;
                    out.push(']');
                }
                out.push_str("]}");
                Ok(())
            }
        }
        impl<K: Get $(+ $bound)*, V: Get> Get for $kind<K, V> {
            fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
                let mut items = $kind::new();
                from.open("m")?;
                from.want("[")?;
                let mut first = true;
                while from.more(&mut first)? {
                    from.want("[")?;
                    let key = K::get(from)?;
                    from.want(",")?;
                    let value = V::get(from)?;
                    from.want("]")?;
                    items.insert(key, value);
                }
                from.close()?;
                Ok(items)
            }
        }
    )*};
}
maps! {
    HashMap [Eq, Hash];
    BTreeMap [Ord];
}

impl<T: Put> Put for Option<T> {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        match self {
            None => out.push_str("null"),
            Some(value) if lenient() => value.put(out)?,
            Some(value) => {
                out.push_str("{\"t\":[");
                value.put(out)?;
                out.push_str("]}");
            }
        }
        Ok(())
    }
}
impl<T: Get> Get for Option<T> {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        if from.take("null") {
            return Ok(None);
        }
        if lenient() {
            return T::get(from).map(Some);
        }
        from.open("t")?;
        from.want("[")?;
        let value = T::get(from)?;
        from.want("]")?;
        from.close()?;
        Ok(Some(value))
    }
}

fn put_numbered(out: &mut String, number: u8, value: &dyn Put) -> Result<(), Wrong> {
    out.push_str("{\"t\":[");
    number.put(out)?;
    out.push(',');
    value.put(out)?;
    out.push_str("]}");
    Ok(())
}
impl<T: Put, E: Put> Put for Result<T, E> {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        match self {
            Ok(value) => put_numbered(out, 0, value),
            Err(error) => put_numbered(out, 1, error),
        }
    }
}
impl<T: Get, E: Get> Get for Result<T, E> {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
        from.open("t")?;
        from.want("[")?;
        let number = u8::get(from)?;
        from.want(",")?;
        let value = match number {
            0 => Ok(T::get(from)?),
            1 => Err(E::get(from)?),
            _ => return wrong(),
        };
        from.want("]")?;
        from.close()?;
        Ok(value)
    }
}

macro_rules! tuples {
    ($(($($kind:ident $at:tt),*))*) => {$(
        impl<$($kind: Put),*> Put for ($($kind,)*) {
            fn put(&self, out: &mut String) -> Result<(), Wrong> {
                out.push_str("{\"t\":[");
                $(
                    if $at > 0 {
                        out.push(',');
                    }
                    self.$at.put(out)?;
                )*
                out.push_str("]}");
                Ok(())
            }
        }
        impl<$($kind: Get),*> Get for ($($kind,)*) {
            fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
                from.open_one("t", "l")?;
                from.want("[")?;
                let mut first = true;
                let all = ($(
                    if from.more(&mut first)? {
                        $kind::get(from)?
                    } else {
                        return wrong();
                    },
                )*);
                from.want("]")?;
                from.close()?;
                Ok(all)
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

macro_rules! anything {
    ($($number:literal $kind:ty;)*) => {
        impl Put for dyn Any {
            fn put(&self, out: &mut String) -> Result<(), Wrong> {
                $(
                    if let Some(value) = self.downcast_ref::<$kind>() {
                        return put_numbered(out, $number, value);
                    }
                )*
                Err(Wrong("a value of a type that is not plain cannot cross".to_owned()))
            }
        }
        impl Get for Box<dyn Any> {
            fn get(from: &mut Reader<'_>) -> Result<Self, Wrong> {
                from.open("t")?;
                from.want("[")?;
                let number = u8::get(from)?;
                from.want(",")?;
                let value: Box<dyn Any> = match number {
                    $($number => Box::new(<$kind>::get(from)?),)*
                    _ => return wrong(),
                };
                from.want("]")?;
                from.close()?;
                Ok(value)
            }
        }
    };
}
anything! {
    0 bool; 1 i32; 2 i64; 3 u32; 4 u64; 5 isize; 6 usize; 7 f32; 8 f64; 9 char; 10 String;
    11 Vec<i32>; 12 Vec<i64>; 13 Vec<f64>; 14 Vec<String>; 15 (); 16 i8; 17 u8; 18 i16; 19 u16;
    20 &'static str; 21 Vec<&'static str>; 22 Option<i32>; 23 Vec<Box<dyn Any>>;
}
impl Put for Box<dyn Any> {
    fn put(&self, out: &mut String) -> Result<(), Wrong> {
        (**self).put(out)
    }
}
