"""What generate.py and heldout.py share: how a project of each test runner is
run, and how what it printed is saved.

A runner that is not on the machine is left out, and its file stays as it is.
Packages are found through the environment: SIG_PYTHONPATH (a folder with pytest
and pytest-xdist), SIG_NODE (a folder whose node_modules holds jest, vitest and
bats). Run with the versions that VERSIONS names, the files are as they are but
for times, addresses and the order of parallel lines.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

VERSIONS = ("python 3.11, pytest 9.0.2 and pytest-xdist 3.8.0, go 1.26, cargo 1.95, node 20, jest 30.5, "
            "vitest 4.1, bats 1.13, Maven 3.8 with Surefire 3.5.2 and JUnit 5.11, GoogleTest 1.12, CMake 3.25, perl 5.36")
HERE = os.path.dirname(os.path.abspath(__file__))
SIG_PYTHONPATH = os.environ.get("SIG_PYTHONPATH", "/opt/sig/python")
SIG_NODE = os.environ.get("SIG_NODE", "/opt/sig/node")

# Where a project seems to be, by variant: the outputs name these folders.
PLACES = {"": "/home/dev/basket", "moved": "/srv/ci/agent_7/build-20431/shop/basket2"}

POM = '''<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>shop</groupId><artifactId>basket</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.11.4</version><scope>test</scope></dependency></dependencies>
<build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin></plugins></build></project>
'''
CMAKE = '''cmake_minimum_required(VERSION 3.10)
project(basket CXX)
enable_testing()
add_executable(basket_test basket_test.cc)
%s
'''


def shell(runner, variant):
    """The command of a runner, and what the variant adds to its environment."""
    env, color, width = {}, "colour" in variant, "narrow" in variant or "wide" in variant
    if "seed" in variant:
        env["PYTHONHASHSEED"] = "4711"
    if width:
        env["COLUMNS"] = "50" if "narrow" in variant else "190"
    par = "workers" in variant
    nb = SIG_NODE + "/node_modules/"
    py = "python3 -B -m "
    cmds = {
        "unittest": py + "unittest" + (" -v" if "verbose" in variant else ""),
        "pytest": py + "pytest -p no:cacheprovider" + (" --color=yes" if color else "") + (" -n 3" if par else "") + (" -v" if "verbose" in variant else ""),
        "pytest-q": py + "pytest -q -p no:cacheprovider" + (" --color=yes" if color else "") + (" -n 3" if par else ""),
        "pytest-rA": py + "pytest -rA --tb=short -p no:cacheprovider" + (" --color=yes" if color else "") + (" -n 3" if par else ""),
        "junit-pytest": py + "pytest -q -p no:cacheprovider --junitxml=report.xml" + (" -n 3" if par else "") + " >/dev/null 2>&1; cat report.xml",
        "go": "go test" + (" -parallel 4" if par else "") + (" -shuffle=on" if "order" in variant else "") + (" -v" if "verbose" in variant else "") + " ./...",
        "go-json": "go test -json" + (" -shuffle=on" if "order" in variant else "") + " ./...",
        "cargo": "cargo test --offline" + (" --color always" if color else "") + (" -- --test-threads=1" if par else ""),
        "node-spec": "node --test --test-reporter=spec",
        "node-tap": "node --test --test-reporter=tap" + (" --test-concurrency=1" if par else ""),
        "jest": nb + "jest/bin/jest.js" + (" --colors" if color else "") + (" --verbose" if "verbose" in variant else "") + (" --maxWorkers=2" if par else " -i"),
        "vitest": nb + "vitest/vitest.mjs run" + (" --reporter=verbose" if "verbose" in variant else ""),
        "surefire": "mvn -B -o -q test" if "verbose" in variant else "mvn -o " + ("-Dstyle.color=always " if color else "-B ") + "test",
        "junit-surefire": "mvn -B -o -q test >/dev/null 2>&1; cat target/surefire-reports/*.xml",
        "gtest": "g++ -O0 -o t basket_test.cc -lgtest -lgtest_main -lpthread && ./t" + (" --gtest_color=yes" if color else "") + (" --gtest_shuffle" if "order" in variant else "") + (" --gtest_brief=1" if "verbose" in variant else ""),
        "junit-gtest": "g++ -O0 -o t basket_test.cc -lgtest -lgtest_main -lpthread && ./t --gtest_output=xml:r.xml >/dev/null 2>&1; cat r.xml",
        "ctest": "(cmake -B build . && cmake --build build) >/dev/null 2>&1; cd build && ctest --output-on-failure" + (" -j3" if par else "") + (" --schedule-random" if "order" in variant else ""),
        "bats": nb + "bats/bin/bats" + (" --pretty" if "colour" in variant or "narrow" in variant or "moved" in variant else " --formatter tap") + " -r .",
        "prove": "prove -v -r ." if "verbose" in variant else "prove" + (" -j3" if par else "") + (" --shuffle" if "order" in variant else "") + (" --color" if color else "") + " -r .",
        "perl-tap": "perl basket.t",
    }
    if runner in ("unittest",) and color:
        env["FORCE_COLOR"] = "1"
    if runner in ("node-spec", "vitest", "jest"):
        env["FORCE_COLOR" if color else "NO_COLOR"] = "1"
    return cmds[runner], env


def prepare(runner, files):
    """Adds the build files a runner needs."""
    if runner in ("go", "go-json"):
        files.setdefault("go.mod", "module example.com/shop/basket\n\ngo 1.22\n")
    elif runner == "cargo":
        files.setdefault("Cargo.toml", '[package]\nname = "basket"\nversion = "0.1.0"\nedition = "2021"\n')
    elif runner in ("surefire", "junit-surefire"):
        files.setdefault("pom.xml", POM)
    elif runner == "jest":
        files.setdefault("package.json", '{"name":"basket","jest":{"testEnvironment":"node"}}\n')
    elif runner == "vitest":
        files.setdefault("package.json", '{"name":"basket","type":"module"}\n')
    return files


def run(runner, files, variant):
    """Runs a project and returns what it printed, its folders renamed."""
    place = PLACES["moved" if "moved" in variant else ""]
    base = tempfile.mkdtemp(prefix="sg")
    root = base + place
    try:
        for name, text in prepare(runner, dict(files)).items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text)
            if text.startswith("#!"):
                os.chmod(path, 0o755)
        if runner in ("jest", "vitest"):
            os.symlink(SIG_NODE + "/node_modules", root + "/node_modules")
        cmd, extra = shell(runner, variant)
        env = {k: v for k, v in os.environ.items() if k not in ("CI", "PYTHONPATH", "NO_COLOR", "FORCE_COLOR", "COLUMNS")}
        env.update(PYTHONPATH=SIG_PYTHONPATH if "pytest" in runner else "", TERM="xterm-256color" if "colour" in variant or runner == "bats" else "dumb",
                   GOFLAGS="-mod=mod", CARGO_TARGET_DIR=base + "/target", **extra)
        if runner == "cargo":
            env["CARGO_TERM_COLOR"] = "always" if "colour" in variant else "never"
        p = subprocess.run(["bash", "-c", cmd], cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, stdin=subprocess.DEVNULL)
        return rename(p.stdout.decode("utf-8", "replace"), base, root), p.returncode
    finally:
        shutil.rmtree(base, ignore_errors=True)


def rename(out, base, root):
    """Gives the folders of this machine fixed names."""
    out = out.replace(os.path.relpath(SIG_NODE, root), "..")
    out = out.replace(base + "/target", "/home/dev/target").replace("file://" + base, "file://").replace(base, "")
    out = re.sub(r"(\.\./)+(srv|home|tmp)/", r"/\2/", out)
    for real, shown in [(SIG_PYTHONPATH, "/home/dev/.venv/lib/python3.11/site-packages"), (SIG_NODE, "/home/dev"),
                        (sys.prefix, "/usr"), (os.path.expanduser("~"), "/home/dev")]:
        out = out.replace(real, shown)
    out = re.sub(r'hostname="[^"]*"', 'hostname="build"', out)
    # Surefire's reports list every property of the machine.
    return re.sub(r"\s*<properties>.*?</properties>", "", out, flags=re.S)


def save(folder, runner, outputs):
    """Writes runner.txtar with one file per run, named FAILURE/VARIANT."""
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    with open(os.path.join(HERE, folder, runner + ".txtar"), "w", newline="") as f:
        for name, text in outputs.items():
            if not text.endswith("\n"):
                text += "\n"
            assert not re.search(r"^-- .* --\s*$", text, flags=re.M), name
            f.write("-- %s --\n%s" % (name, text))


def build(folder, runner, projects):
    """Runs (failure, variant, files) projects and saves them."""
    outputs = {}
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda p: run(runner, p[2], p[1]), projects))
    for (failure, variant, files), (text, code) in zip(projects, runs):
        if code == 0 and not runner.startswith("junit"):
            print(runner, failure, variant, "did not fail", file=sys.stderr)
        outputs["%s/%s" % (failure, variant)] = text
    save(folder, runner, outputs)
    print(runner, len(outputs), sum(map(len, outputs.values())), flush=True)
