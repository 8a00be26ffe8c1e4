package rollcage;

import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs the solution's methods for the judge, which asks over descriptor 3. It knows no test and no
 * expected value, and what it says is data of the library's own classes.
 */
public final class RollcageHost {
    private final RollcageWire wire = new RollcageWire(3);
    private final List<Object> objects = new ArrayList<>();
    private final String inPackage;

    private RollcageHost(String inPackage) { this.inPackage = inPackage; }

    public static void main(String[] args) throws InterruptedException {
        RollcageHost host = new RollcageHost(args.length == 0 ? "" : args[0] + ".");
        // Deep recursion of the solution has the stack that it would have elsewhere, and more.
        Thread thread = new Thread(null, host::serveAll, "main", 256L << 20);
        thread.start();
        thread.join();
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private void serveAll() {
        try {
            for (;;) {
                RollcageWire.Reader request = new RollcageWire.Reader(wire.receive());
                RollcageWire.Writer reply = new RollcageWire.Writer();
                try {
                    serve(request, reply);
                } catch (RollcageWire.CannotCross error) {
                    reply = new RollcageWire.Writer();
                    reply.out.writeByte('C');
                    reply.text(error.getMessage());
                } catch (EOFException error) {
                    throw error;
                } catch (StackOverflowError error) {
                    reply = new RollcageWire.Writer();
                    reply.out.writeByte('C');
                    reply.text("value cannot cross: it is nested too deeply");
                } catch (Throwable error) {
                    reply = new RollcageWire.Writer();
                    thrown(error, reply);
                }
                try {
                    wire.send(reply.bytes.toByteArray());
                } catch (RollcageWire.CannotCross error) {
                    RollcageWire.Writer refused = new RollcageWire.Writer();
                    refused.out.writeByte('C');
                    refused.text(error.getMessage());
                    wire.send(refused.bytes.toByteArray());
                }
            }
        } catch (IOException ended) {
            // The judge is gone, and with it every reason to be here.
        }
    }

    private void serve(RollcageWire.Reader request, RollcageWire.Writer reply) throws Throwable {
        int action = request.in.readByte();
        if (action == 'L') {
            reply.out.writeByte('R');
            return;
        }
        Class<?> owner = Class.forName(inPackage + request.text());
        Object target = action == 'M' ? objects.get(request.in.readInt()) : null;
        String name = request.text();
        String[] types = new String[request.count()];
        Object[] args = new Object[types.length];
        for (int at = 0; at < types.length; at++) types[at] = request.text();
        for (int at = 0; at < types.length; at++) args[at] = request.get();
        Object result;
        try {
            if (action == 'N') {
                Constructor<?> made = (Constructor<?>) find(owner.getDeclaredConstructors(), owner.getName(), types);
                objects.add(made.newInstance(args));
                result = objects.size() - 1;
            } else {
                result = ((Method) find(owner.getDeclaredMethods(), name, types)).invoke(target, args);
            }
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
        reply.out.writeByte('R');
        reply.put(result);
        reply.out.writeInt(args.length);
        for (Object arg : args) reply.put(arg);
    }

    private static Executable find(Executable[] all, String name, String[] types) throws NoSuchMethodException {
        next:
        for (Executable one : all) {
            Class<?>[] parameters = one.getParameterTypes();
            if (!one.getName().equals(name) || parameters.length != types.length) continue;
            for (int at = 0; at < types.length; at++) {
                if (!parameters[at].getName().equals(types[at])) continue next;
            }
            one.setAccessible(true);
            return one;
        }
        throw new NoSuchMethodException(name);
    }

    /** The names of its class and of those above it, and what it says. */
    private static void thrown(Throwable error, RollcageWire.Writer reply) throws IOException {
        List<String> names = new ArrayList<>();
        for (Class<?> one = error.getClass(); one != Object.class; one = one.getSuperclass()) names.add(one.getName());
        String message;
        try {
            message = error.getMessage();
        } catch (Throwable ignored) {
            message = null;
        }
        reply.out.writeByte('X');
        reply.out.writeInt(names.size());
        for (String name : names) reply.text(name);
        reply.put(message);
    }
}
