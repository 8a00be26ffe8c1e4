"""Makes every repository that it is told of anew, from what its current commit needs, and nothing
else. It works in a sandbox of its own, on copies; the tests of a task see only the result.

The new repository is made by giving it objects, not by taking some away: what is not reachable
from HEAD has no way into it.
"""
import json
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(sys.argv[0]))
ROOT = os.path.dirname(FOLDER)
GIT = ["git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"), "HOME": "/nonexistent",
    "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_NO_REPLACE_OBJECTS": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
    "GIT_GRAFT_FILE": "/dev/null", "GIT_NO_LAZY_FETCH": "1"}
# Beside objects, all that an old repository may say.
KEPT_OF_OLD = ("HEAD", "objects", "refs", "packed-refs", "shallow")


class Refused(Exception):
    """The repository cannot be made anew."""


def git(folder, *words, data=None):
    ran = subprocess.run(GIT + ["--git-dir", folder, *words], input=data, env=ENVIRONMENT,
                         capture_output=True, cwd=FOLDER)
    if ran.returncode:
        raise Refused("git %s: %s" % (words[0], ran.stderr.decode(errors="replace").strip()[:300]))
    return ran.stdout.decode()


def disarm(old):
    """Leaves nothing in an old repository that git would obey or follow."""
    try:
        with open(old + "/config", errors="replace") as file:
            written = file.read()
    except OSError:
        written = ""
    if re.search(r"(?i)refstorage\s*=\s*(?!files)", written):
        raise Refused("its references are stored in a form that is not supported")
    kind = "sha256" if re.search(r"(?i)objectformat\s*=\s*sha256", written) else "sha1"
    for name in os.listdir(old):
        if name not in KEPT_OF_OLD:
            remove(os.path.join(old, name))
    remove(old + "/objects/info")
    for name in ("objects", "refs"):
        os.makedirs(old + "/" + name, exist_ok=True)
    with open(old + "/config", "w") as file:
        file.write(config(kind, True))
    return kind


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        for name in os.listdir(path):
            remove(os.path.join(path, name))
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)


def config(kind, bare):
    extended = kind != "sha1"
    text = "[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = %s\n" % (
        extended, "true" if bare else "false")
    return text + ("[extensions]\n\tobjectformat = %s\n" % kind if extended else "")


def make_new(old, new, kind):
    """Gives a new repository HEAD's commit, its branch, and what the commit reaches."""
    os.makedirs(new + "/objects/pack")
    os.makedirs(new + "/refs/heads")
    with open(old + "/HEAD", errors="replace") as file:
        head = file.read().strip()
    branch = head[5:].strip() if head.startswith("ref:") else None
    if branch is not None and not branch.startswith("refs/heads/"):
        raise Refused("HEAD names %r, which is no branch" % branch[:80])
    with open(new + "/config", "w") as file:
        file.write(config(kind, False))
    with open(new + "/HEAD", "w") as file:
        file.write((head if branch is None else "ref: " + branch) + "\n")
    try:
        commit = git(old, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
    except Refused:
        if branch is None or exists(old, branch):
            raise Refused("HEAD is no commit that is there") from None
        return None
    shallow = set()
    if os.path.exists(old + "/shallow"):
        with open(old + "/shallow") as file:
            shallow = set(file.read().split())
        reached = set(git(old, "rev-list", commit).split())
        if shallow & reached:
            with open(new + "/shallow", "w") as file:
                file.write("".join(line + "\n" for line in sorted(shallow & reached)))
    git(old, "pack-objects", "--revs", "-q", "--no-reuse-delta", new + "/objects/pack/pack",
        data=(commit + "\n").encode())
    if branch is None:
        git(new, "update-ref", "--no-deref", "HEAD", commit)
    else:
        git(new, "update-ref", branch, commit)
    git(new, "read-tree", "HEAD")
    return commit


def keep_refs(new):
    """Folders without a file are not carried over, and git wants this one."""
    if not any(names for _, _, names in os.walk(new + "/refs")):
        with open(new + "/refs/.keep", "w"):
            pass


def exists(old, branch):
    """Whether a branch has been begun."""
    if os.path.exists(old + "/" + branch):
        return True
    try:
        with open(old + "/packed-refs", errors="replace") as file:
            return any(line.split()[1:] == [branch] for line in file)
    except OSError:
        return False


def check(new, commit):
    """Nothing is there but what HEAD reaches; told in numbers."""
    commits = set(git(new, "rev-list", "HEAD").split()) if commit else set()
    everywhere = set(git(new, "rev-list", "--all", "--reflog").split()) if commit else set()
    objects = {line.split()[0] for line in git(
        new, "cat-file", "--batch-all-objects", "--batch-check", "--unordered").splitlines()}
    reached = {line.split()[0] for line in git(
        new, "rev-list", "--objects", "HEAD").splitlines()} if commit else set()
    extra = objects - reached
    if extra or everywhere != commits:
        raise Refused("%d objects beyond HEAD's history are left" % len(extra | everywhere ^ commits))
    if reached - objects:
        raise Refused("%d objects of HEAD's history are missing" % len(reached - objects))
    refs = git(new, "for-each-ref").splitlines()
    if len(refs) > 1:
        raise Refused("more than one reference is left")
    for name in ("logs", "packed-refs", "ORIG_HEAD", "FETCH_HEAD", "hooks", "objects/info"):
        if os.path.lexists(new + "/" + name):
            remove(new + "/" + name)
    return {"commits": len(commits), "objects": len(objects)}


def main():
    with open(FOLDER + "/git.json") as file:
        paths = json.load(file)
    done = []
    for number, path in enumerate(paths):
        old, new = os.path.join(ROOT, path), "%s/git/%d" % (FOLDER, number)
        try:
            kind = disarm(old)
            row = check(new, make_new(old, new, kind))
            keep_refs(new)
        except (Refused, OSError) as error:
            print(json.dumps({"path": path, "refused": str(error)[:500]}))
            return 1
        done.append(dict(row, path=path))
    print(json.dumps({"repositories": done}))
    return 0


sys.exit(main())
