package rollcage;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.*;

/**
 * The coding of values, and the frames: the same file in both programs, the judge's and the one of
 * the solution. What is read makes objects of the library's own classes alone, each by its tag: a
 * class of the solution with methods of its own never gets to the judge.
 */
public final class RollcageWire {
    static final int FRAME_MAX = 64 << 20;
    static final int DEPTH_MAX = 1000;

    /** A value that cannot cross decides a test. */
    public static final class CannotCross extends RuntimeException {
        CannotCross(String why) { super(why); }
    }

    private final FileInputStream in;
    private final FileOutputStream out;

    RollcageWire(int number) {
        FileDescriptor descriptor = descriptor(number);
        in = new FileInputStream(descriptor);
        out = new FileOutputStream(descriptor);
    }

    static FileDescriptor descriptor(int number) {
        try {
            FileDescriptor made = new FileDescriptor();
            var field = FileDescriptor.class.getDeclaredField("fd");
            field.setAccessible(true);
            field.setInt(made, number);
            return made;
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    void send(byte[] body) throws IOException {
        if (body.length > FRAME_MAX) throw new CannotCross("a value of more than 64 MiB cannot cross");
        byte[] frame = new byte[4 + body.length];
        for (int at = 0; at < 4; at++) frame[at] = (byte) (body.length >>> (8 * at));
        System.arraycopy(body, 0, frame, 4, body.length);
        out.write(frame);
    }

    DataInputStream receive() throws IOException {
        byte[] head = exactly(4);
        long size = 0;
        for (int at = 3; at >= 0; at--) size = size << 8 | (head[at] & 255);
        if (size == 0 || size > FRAME_MAX) throw new IOException("it sent a frame of " + size + " bytes");
        return new DataInputStream(new ByteArrayInputStream(exactly((int) size)));
    }

    /** The library's own way asks for the position first, which a socket does not have. */
    private byte[] exactly(int size) throws IOException {
        byte[] bytes = new byte[size];
        for (int at = 0; at < size; ) {
            int count = in.read(bytes, at, size - at);
            if (count < 0) throw new EOFException("its process ended");
            at += count;
        }
        return bytes;
    }

    /** One message going out. */
    static final class Writer {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final DataOutputStream out = new DataOutputStream(bytes);

        void text(String text) throws IOException {
            out.writeInt(text.length());
            out.writeChars(text);
        }

        void put(Object value) throws IOException { put(value, 0); }

        void put(Object value, int depth) throws IOException {
            if (depth > DEPTH_MAX) throw new CannotCross("value cannot cross: it is nested too deeply");
            if (bytes.size() > FRAME_MAX) throw new CannotCross("a value of more than 64 MiB cannot cross");
            if (value == null) out.writeByte('N');
            else if (value instanceof Boolean is) out.writeByte(is ? 'T' : 'F');
            else if (value instanceof Integer number) { out.writeByte('i'); out.writeInt(number); }
            else if (value instanceof Long number) { out.writeByte('l'); out.writeLong(number); }
            else if (value instanceof Double number) { out.writeByte('d'); out.writeDouble(number); }
            else if (value instanceof Float number) { out.writeByte('f'); out.writeFloat(number); }
            else if (value instanceof Short number) { out.writeByte('h'); out.writeShort(number); }
            else if (value instanceof Byte number) { out.writeByte('b'); out.writeByte(number); }
            else if (value instanceof Character one) { out.writeByte('c'); out.writeChar(one); }
            else if (value instanceof String text) { out.writeByte('s'); text(text); }
            else if (value.getClass() == BigInteger.class) { out.writeByte('I'); text(value.toString()); }
            else if (value.getClass() == BigDecimal.class) { out.writeByte('D'); text(value.toString()); }
            else if (value.getClass().isArray()) array(value, depth);
            else if (value instanceof Optional<?> maybe) { out.writeByte('O'); put(maybe.orElse(null), depth + 1); }
            else if (value instanceof List<?> list) { out.writeByte('L'); items(kind(list), list, depth); }
            else if (value instanceof Set<?> set) { out.writeByte('S'); items(kind(set), set, depth); }
            else if (value instanceof Deque<?> deque) { out.writeByte('L'); items('q', deque, depth); }
            else if (value instanceof Map<?, ?> map) { map(map, depth); }
            else if (value instanceof Map.Entry<?, ?> entry) {
                out.writeByte('E');
                put(entry.getKey(), depth + 1);
                put(entry.getValue(), depth + 1);
            } else throw new CannotCross("value cannot cross: it is a " + value.getClass().getName());
        }

        private void items(char kind, Collection<?> items, int depth) throws IOException {
            Object[] copy = items.toArray();
            out.writeByte(kind);
            out.writeInt(copy.length);
            for (Object item : copy) put(item, depth + 1);
        }

        private void map(Map<?, ?> map, int depth) throws IOException {
            out.writeByte('M');
            out.writeByte(kind(map));
            Object[] copy = map.entrySet().toArray();
            out.writeInt(copy.length);
            for (Object one : copy) {
                put(((Map.Entry<?, ?>) one).getKey(), depth + 1);
                put(((Map.Entry<?, ?>) one).getValue(), depth + 1);
            }
        }

        private void array(Object array, int depth) throws IOException {
            out.writeByte('A');
            text(componentName(array.getClass().getComponentType()));
            int length = Array.getLength(array);
            out.writeInt(length);
            for (int at = 0; at < length; at++) put(Array.get(array, at), depth + 1);
        }
    }

    /** Which of the library's containers: those that cannot be changed stay so. */
    static char kind(Object container) {
        String name = container.getClass().getName();
        if (name.startsWith("java.util.ImmutableCollections") || name.startsWith("java.util.Collections$")) return 'u';
        return switch (name) {
            case "java.util.Arrays$ArrayList" -> 'f';
            case "java.util.LinkedList" -> 'k';
            case "java.util.TreeMap", "java.util.TreeSet" -> ((container instanceof SortedMap<?, ?> map
                ? map.comparator() : ((SortedSet<?>) container).comparator()) == null) ? 't' : 'o';
            case "java.util.HashMap", "java.util.HashSet" -> 'h';
            default -> 'o';
        };
    }

    static final Map<String, Class<?>> COMPONENTS = new HashMap<>();

    static {
        for (Class<?> one : List.of(boolean.class, byte.class, short.class, char.class, int.class, long.class,
                float.class, double.class, Boolean.class, Byte.class, Short.class, Character.class, Integer.class,
                Long.class, Float.class, Double.class, String.class, Object.class, Number.class, List.class,
                Map.class, Set.class, Optional.class, BigInteger.class, BigDecimal.class, Comparable.class)) {
            COMPONENTS.put(one.getName(), one);
        }
    }

    static String componentName(Class<?> component) {
        if (component.isArray()) return "[" + componentName(component.getComponentType());
        if (COMPONENTS.containsKey(component.getName())) return component.getName();
        throw new CannotCross("value cannot cross: it is an array of " + component.getName());
    }

    static Class<?> component(String name, int depth) throws IOException {
        if (depth > 20) throw new IOException("an array of too many dimensions");
        if (name.startsWith("[")) return component(name.substring(1), depth + 1).arrayType();
        Class<?> found = COMPONENTS.get(name);
        if (found == null) throw new IOException("an unknown type");
        return found;
    }

    /** One message coming in, read without trust. */
    static final class Reader {
        final DataInputStream in;

        /** Texts of the caller's own: one that comes back is the same object, as it would be. */
        final Map<String, String> known = new HashMap<>();

        Reader(DataInputStream in) { this.in = in; }

        String text() throws IOException {
            int length = count();
            char[] text = new char[length];
            for (int at = 0; at < length; at++) text[at] = in.readChar();
            return new String(text);
        }

        int count() throws IOException {
            int count = in.readInt();
            if (count < 0 || count > in.available()) throw new IOException("a count beyond the frame");
            return count;
        }

        Object get() throws IOException { return get(0); }

        Object get(int depth) throws IOException {
            if (depth > DEPTH_MAX) throw new IOException("nested too deeply");
            byte tag = in.readByte();
            switch (tag) {
                case 'N': return null;
                case 'T': return true;
                case 'F': return false;
                case 'i': return in.readInt();
                case 'l': return in.readLong();
                case 'd': return in.readDouble();
                case 'f': return in.readFloat();
                case 'h': return in.readShort();
                case 'b': return in.readByte();
                case 'c': return in.readChar();
                case 's': {
                    String text = text();
                    return known.getOrDefault(text, text);
                }
                case 'I': return new BigInteger(text());
                case 'D': return new BigDecimal(text());
                case 'O': return Optional.ofNullable(get(depth + 1));
                case 'E': return new AbstractMap.SimpleEntry<>(get(depth + 1), get(depth + 1));
                case 'L': return list(in.readByte(), depth);
                case 'S': return set(in.readByte(), depth);
                case 'M': return map(in.readByte(), depth);
                case 'A': return array(depth);
                default: throw new IOException("an unknown kind of value");
            }
        }

        private List<Object> items(int depth) throws IOException {
            int count = count();
            List<Object> items = new ArrayList<>(count);
            for (int at = 0; at < count; at++) items.add(get(depth + 1));
            return items;
        }

        private Object list(int kind, int depth) throws IOException {
            List<Object> items = items(depth);
            return switch (kind) {
                case 'f' -> Arrays.asList(items.toArray());
                case 'k' -> new LinkedList<>(items);
                case 'q' -> new ArrayDeque<>(items);
                case 'u' -> Collections.unmodifiableList(items);
                default -> items;
            };
        }

        private Set<Object> set(int kind, int depth) throws IOException {
            List<Object> items = items(depth);
            return switch (kind) {
                case 't' -> new TreeSet<>(items);
                case 'h' -> new HashSet<>(items);
                case 'u' -> Collections.unmodifiableSet(new LinkedHashSet<>(items));
                default -> new LinkedHashSet<>(items);
            };
        }

        private Map<Object, Object> map(int kind, int depth) throws IOException {
            int count = count();
            Map<Object, Object> map = kind == 't' ? new TreeMap<>() : kind == 'h' ? new HashMap<>() : new LinkedHashMap<>();
            for (int at = 0; at < count; at++) map.put(get(depth + 1), get(depth + 1));
            return kind == 'u' ? Collections.unmodifiableMap(map) : map;
        }

        private Object array(int depth) throws IOException {
            Class<?> component = component(text(), 0);
            int length = count();
            Object array = Array.newInstance(component, length);
            for (int at = 0; at < length; at++) Array.set(array, at, get(depth + 1));
            return array;
        }
    }
}
