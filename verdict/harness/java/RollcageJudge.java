package rollcage;

import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.*;

/**
 * Runs the test code against methods in another sandbox, and reports over descriptor 4. No code of
 * the solution is in this program: its classes are stand-ins that ask over descriptor 3. The report
 * is one JSON line with the run's nonce, written when every test is over.
 */
public final class RollcageJudge {
    private static final int MESSAGE_MAX = 2000;
    private static RollcageWire wire;
    private static String gone;
    private static String refused;
    private static final Set<Throwable> remote = Collections.newSetFromMap(new IdentityHashMap<>());
    private static final Report report = new Report();

    private RollcageJudge() {}

    /** The solution is gone, or a value cannot cross: no test goes on from here. */
    static final class Stopped extends Error {
        Stopped(String why) { super(why); }
    }

    /** What the solution threw, where its class is not one of the library's. */
    static final class Threw extends RuntimeException {
        Threw(String why) { super(why); }
    }

    /** What the stand-ins call. `types` are the names of the parameters' classes. */
    public static int make(String owner, String[] types, Object[] args) {
        return (Integer) ask('N', owner, 0, owner, types, args);
    }

    public static Object call(String owner, int target, String name, String[] types, Object[] args) {
        return ask('M', owner, target, name, types, args);
    }

    public static Object callStatic(String owner, String name, String[] types, Object[] args) {
        return ask('S', owner, 0, name, types, args);
    }

    private static synchronized Object ask(char action, String owner, int target, String name, String[] types, Object[] args) {
        if (gone != null) throw lost(gone);
        RollcageWire.Writer request = new RollcageWire.Writer();
        RollcageWire.Reader reply;
        try {
            request.out.writeByte(action);
            request.text(owner);
            if (action == 'M') request.out.writeInt(target);
            request.text(name);
            request.out.writeInt(types.length);
            for (String type : types) request.text(type);
            for (Object arg : args) request.put(arg);
            wire.send(request.bytes.toByteArray());
            reply = new RollcageWire.Reader(wire.receive());
        } catch (RollcageWire.CannotCross error) {
            throw refuse(error.getMessage());
        } catch (StackOverflowError error) {
            throw refuse("value cannot cross: it is nested too deeply");
        } catch (IOException error) {
            throw lost(error.getMessage());
        }
        try {
            return take(reply, args);
        } catch (IOException | RuntimeException | StackOverflowError | OutOfMemoryError error) {
            throw remote.contains(error) ? RollcageJudge.<Error>as(error) : lost("its answer cannot be read");
        }
    }

    private static Error lost(String why) {
        if (gone == null) gone = why;
        return new Stopped("the solution is gone: " + gone);
    }

    private static Error refuse(String why) {
        if (refused == null) refused = why;
        return new Stopped(why);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T as(Throwable error) throws T { throw (T) error; }

    private static Object take(RollcageWire.Reader reply, Object[] args) throws IOException {
        switch (reply.in.readByte()) {
            case 'C':
                throw refuse(reply.text());
            case 'X': {
                List<String> names = new ArrayList<>();
                for (int count = reply.count(); count > 0; count--) names.add(reply.text());
                Throwable error = rebuild(names, (String) reply.get());
                remote.add(error);
                throw RollcageJudge.<RuntimeException>as(error);
            }
            case 'R': {
                for (Object arg : args) if (arg instanceof String text) reply.known.put(text, text);
                Object result = reply.get();
                if (reply.in.readInt() != args.length) throw new IOException("another number of values");
                Object[] now = new Object[args.length];
                for (int at = 0; at < now.length; at++) now[at] = reply.get();
                for (int at = 0; at < now.length; at++) writeBack(args[at], now[at]);
                return result;
            }
            default:
                throw new IOException("no answer");
        }
    }

    /** An error of the nearest class that the library has; never one of the solution's own. */
    private static Throwable rebuild(List<String> names, String message) {
        for (String name : names) {
            if (!name.matches("java\\.(lang|util|io|math|time|text|security|nio\\.file)\\.[A-Z]\\w*")) continue;
            try {
                Class<?> found = Class.forName(name, false, null);
                if (!Throwable.class.isAssignableFrom(found)) continue;
                if (message != null && found != AssertionError.class) {
                    return (Throwable) found.getConstructor(String.class).newInstance(message);
                }
                return message == null ? (Throwable) found.getConstructor().newInstance()
                    : (Throwable) found.getConstructor(Object.class).newInstance(message);
            } catch (ReflectiveOperationException | LinkageError error) {
                // The next one above it.
            }
        }
        return new Threw(names.isEmpty() ? "an error" : names.get(0) + ": " + message);
    }

    /** Puts what a call made of an argument into the caller's own container. */
    @SuppressWarnings("unchecked")
    private static void writeBack(Object mine, Object now) {
        if (mine == null || now == null) return;
        if (mine.getClass().isArray() && now.getClass() == mine.getClass()) {
            for (int at = 0; at < Math.min(Array.getLength(mine), Array.getLength(now)); at++) {
                Object inner = Array.get(mine, at);
                if (isContainer(inner)) writeBack(inner, Array.get(now, at));
                else Array.set(mine, at, Array.get(now, at));
            }
        } else if (mine instanceof List<?> && now instanceof List<?> && !mine.equals(now)) {
            List<Object> list = (List<Object>) mine;
            List<Object> items = (List<Object>) now;
            if (list.size() != items.size()) {
                list.clear();
                list.addAll(items);
                return;
            }
            for (int at = 0; at < items.size(); at++) {
                if (isContainer(list.get(at))) writeBack(list.get(at), items.get(at));
                else if (!Objects.equals(list.get(at), items.get(at))) list.set(at, items.get(at));
            }
        } else if (mine instanceof Collection<?> && now instanceof Collection<?> && !mine.equals(now)
                && !(mine instanceof List<?>)) {
            Object[] items = ((Collection<?>) now).toArray();
            if (Arrays.equals(((Collection<?>) mine).toArray(), items)) return;
            ((Collection<Object>) mine).clear();
            ((Collection<Object>) mine).addAll(Arrays.asList(items));
        } else if (mine instanceof Map<?, ?> && now instanceof Map<?, ?> && !mine.equals(now)) {
            ((Map<Object, Object>) mine).clear();
            ((Map<Object, Object>) mine).putAll((Map<Object, Object>) now);
        }
    }

    private static boolean isContainer(Object value) {
        return value != null && (value instanceof Collection<?> || value instanceof Map<?, ?> || value.getClass().isArray());
    }

    /** What a stand-in returns as a number of this kind: wider is fine, anything else is no answer. */
    public static double asDouble(Object value) {
        return value instanceof Double || value instanceof Float ? ((Number) value).doubleValue() : asLong(value);
    }

    public static float asFloat(Object value) {
        return value instanceof Float number ? number : asLong(value);
    }

    public static long asLong(Object value) {
        return value instanceof Character one ? one
            : value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte
                ? ((Number) value).longValue() : (Long) value;
    }

    public static int asInt(Object value) {
        return value instanceof Character one ? one
            : value instanceof Short || value instanceof Byte ? ((Number) value).intValue() : (Integer) value;
    }

    // Tests and their report.

    private static final class Report {
        String nonce = "";
        String load = "ok";
        String goneAt;
        String running;
        final List<String> tests = new ArrayList<>();
        final List<String> open = new ArrayList<>();

        void add(String id, String status, String message, Integer line, long millis) {
            tests.add("{\"id\":" + quote(id) + ",\"status\":" + quote(status) + ",\"message\":" + quote(message)
                + ",\"line\":" + line + ",\"duration_ms\":" + millis + "}");
            open.remove(id);
        }

        String json() {
            return "{\"version\":1,\"nonce\":" + quote(nonce) + ",\"load\":{\"state\":" + quote(load)
                + "},\"verifier_error\":null,\"tests\":[" + String.join(",", tests) + "],\"changed\":[],\"gone\":"
                + (goneAt == null ? "null" : quote(goneAt)) + ",\"complete\":true}\n";
        }
    }

    static String quote(String text) {
        StringBuilder out = new StringBuilder("\"");
        int shown = Math.min(text.length(), MESSAGE_MAX);
        for (int at = 0; at < shown; at++) {
            char one = text.charAt(at);
            if (one == '"' || one == '\\') out.append('\\').append(one);
            else if (one < 32 || one > 126) out.append(String.format("\\u%04x", Character.isSurrogate(one) ? 0xfffd : (int) one));
            else out.append(one);
        }
        return out.append('"').toString();
    }

    private static boolean isWritten;

    private static synchronized void write() {
        if (isWritten) return;
        isWritten = true;
        for (String id : List.copyOf(report.open)) {
            report.add(id, "error", id.equals(report.running) ? "the test code ended the program" : "it did not run", null, 0);
        }
        try (FileOutputStream out = new FileOutputStream(RollcageWire.descriptor(4))) {
            out.write(report.json().getBytes(StandardCharsets.US_ASCII));
        } catch (IOException error) {
            error.printStackTrace();
        }
    }

    /** `args`: for each test its id and the class of its file that has `main`. */
    public static void main(String[] args) throws Exception {
        wire = new RollcageWire(3);
        report.nonce = Files.readString(Path.of(".rollcage/nonce"));
        for (int at = 0; at < args.length; at += 2) report.open.add(args[at]);
        Runtime.getRuntime().addShutdownHook(new Thread(RollcageJudge::write));
        if (load()) {
            Thread thread = new Thread(null, () -> runAll(args), "main", 256L << 20);
            thread.start();
            thread.join();
        } else {
            report.load = "gone";
            report.open.clear();
        }
        write();
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static boolean load() {
        try {
            RollcageWire.Writer request = new RollcageWire.Writer();
            request.out.writeByte('L');
            wire.send(request.bytes.toByteArray());
            return wire.receive().readByte() == 'R';
        } catch (IOException error) {
            return false;
        }
    }

    private static void runAll(String[] args) {
        for (int at = 0; at < args.length; at += 2) run(args[at], args[at + 1]);
    }

    private static void run(String id, String owner) {
        long started = System.nanoTime();
        String status = "passed";
        String message = "";
        Integer line = null;
        refused = null;
        report.running = id;
        try {
            Method main = Class.forName(owner).getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            main.invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException thrown) {
            Throwable error = thrown.getCause();
            for (Throwable one = error; one.getCause() != null && one instanceof ExceptionInInitializerError;) error = one = one.getCause();
            boolean isRemote = remote.contains(error);
            status = error instanceof AssertionError && !isRemote ? "failed" : "error";
            message = (isRemote ? "the solution threw " : "") + text(error);
            line = line(error, owner);
        } catch (ReflectiveOperationException | LinkageError error) {
            status = "error";
            message = text(error);
        }
        if (refused != null) {
            status = "failed";
            message = refused;
        }
        if (gone != null) {
            report.goneAt = report.goneAt == null ? id : report.goneAt;
            status = "error";
            message = "the solution is gone: " + gone;
        }
        report.add(id, status, message, line, (System.nanoTime() - started) / 1_000_000);
    }

    private static String text(Throwable error) {
        String message = error.getMessage();
        return message == null ? error.getClass().getName() : error.getClass().getName() + ": " + message;
    }

    /** The innermost line of the test's own file. */
    private static Integer line(Throwable error, String owner) {
        String inPackage = owner.substring(0, owner.lastIndexOf('.') + 1);
        for (StackTraceElement frame : error.getStackTrace()) {
            String name = frame.getClassName();
            boolean isStandIn = "RollcageSolution.java".equals(frame.getFileName());
            if (name.startsWith(inPackage) && !isStandIn && frame.getLineNumber() > 0) return frame.getLineNumber();
        }
        return null;
    }
}
