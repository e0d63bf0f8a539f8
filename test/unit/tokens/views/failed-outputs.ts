import { FAILED_TESTS } from './failed-tests.ts';

/** What must be shown of a failing output in test/fixtures/outputs without context: the beginnings of its lines. */
export interface Expected {
  /** Lines that report an error. */
  errors: readonly string[];
  /** Lines of their messages. */
  kept?: readonly string[];
  /** Lines that must not be shown. */
  hidden?: readonly string[];
}

/** Outputs of compilers, builds and programs. */
const FAILED_BUILDS: Readonly<Record<string, Expected>> = {
  assert: { errors: ['as: as.c:3: main: Assertion', 'bash: line 1:'], hidden: ['checking errors: 0'] },
  bash: {
    errors: [
      'run.sh: line 3: nosuchtool: command not found',
      'cat: /nowhere/errors.log: No such file',
      'run.sh: line 8: undefined_name: unbound variable',
      'sh: 1: foo: not found',
    ],
    hidden: ['done with 0 errors'],
  },
  biome: {
    errors: ['  × This is an unexpected use', '  × Duplicate parameter name.', 'Found 4 errors.'],
    kept: ['a.js:2:1 lint/suspicious/noDebugger', '  > 2 │ debugger;'],
    hidden: ['  ! This let declares', 'Found 3 warnings.'],
  },
  'cargo-build': {
    errors: ['error[E0277]: cannot add', 'error[E0382]: borrow', 'error: could not compile'],
    kept: [' --> src/lib.rs:4:32', '8 |     list[0].clone()', '7 |     let moved = list.clone();'],
    hidden: ['warning: unused variable'],
  },
  clang: {
    errors: ['main.c:6:24: error: use of undeclared', '1 warning and 2 errors generated.'],
    kept: ['  printf("%d error', '                       ^', '                  ;'],
    hidden: ['error.c:3:1: warning:', '}'],
  },
  cmake: {
    errors: ['CMake Error at CMakeLists.txt:3', '-- Configuring incomplete, errors occurred!'],
    kept: ['  By not providing', '    NoSuchThingConfig.cmake', '  has been installed.'],
    hidden: ['-- Detecting C compile features'],
  },
  docker: {
    errors: ['#7 2.113 src/main.ts(4,7): error TS2322', '#7 ERROR: process', 'ERROR: failed to solve'],
    hidden: ['#5 [2/4] COPY errors.ts', '#6 0.812 added 12 packages'],
  },
  dotnet: {
    errors: ['/home/dev/project/Shop/Cart.cs(12,20): error CS1002', 'Build FAILED.'],
    hidden: ['/home/dev/project/Shop/Error.cs(3,7): warning'],
  },
  eslint: {
    errors: ["  2:1  error    'foo'", "  1:5   error    'error'", '✖ 8 problems'],
    kept: ['/home/dev/project/src/b.js', '/home/dev/project/src/error.js'],
    hidden: ['  1:1  warning  Unexpected console'],
  },
  git: {
    errors: ['CONFLICT (content)', 'Automatic merge failed', "fatal: 'origin'", "error: pathspec 'nowhere'"],
    hidden: ['Auto-merging'],
  },
  'git-push': {
    errors: [' ! [rejected]', 'error: failed to push'],
    kept: ['hint: Updates were rejected'],
    hidden: ['To /home'],
  },
  'go-build': {
    errors: ['bad/main.go:5:2: "os" imported', 'bad/main.go:11:17: cannot use'],
    hidden: ['# example.com'],
  },
  'go-vet': { errors: ['vet/main.go:6:14: fmt.Printf format %d'] },
  gradle: {
    errors: [
      '> Task :app:test FAILED',
      '    org.opentest4j.AssertionFailedError',
      '* What went wrong:',
      'BUILD FAILED in 3s',
    ],
    kept: ['        at app//shop.CartTest', '> There were failing tests.'],
    hidden: ['CartTest > handlesErrors() PASSED', '> Task :app:classes'],
  },
  java: {
    errors: ['Exception in thread "main"', 'Caused by: java.lang.NullPointerException'],
    kept: ['\tat Main.main(Main.java:5)'],
  },
  javac: {
    errors: ['Bad.java:2: error:', 'Bad.java:3: error:', '2 errors'],
    kept: ['          ^', '  symbol:   method'],
  },
  ld: { errors: ['link.c:(.text+0xa): undefined reference', 'collect2: error: ld returned'] },
  'make-gcc': {
    errors: ['main.c:6:24: error: ‘totl’ undeclared', 'make: *** [Makefile:4: main.o] Error 1'],
    kept: ['    6 |   printf(', '      |                   ;'],
    hidden: ['gcc -Wall -c main.c', 'gcc -Wall -c as.c -o error.o', 'main.c:5:13: warning'],
  },
  maven: {
    errors: ['[ERROR] Unknown packaging: nope', '[ERROR] The build could not read'],
    hidden: ['\u001b[0m\u001b[0m[INFO] Scanning'],
  },
  'node-enoent': {
    errors: ['Error: ENOENT'],
    kept: ['node:fs:483', '                   ^', '    at load', "  path: './nowhere/config.json'"],
    hidden: ['starting, 0 errors so far', 'Node.js v'],
  },
  'node-module': {
    errors: ['Error [ERR_MODULE_NOT_FOUND]: Cannot find module'],
    kept: ['    throw new ERR_MODULE', "  code: 'ERR_"],
    hidden: ['Node.js v'],
  },
  'node-typeerror': {
    errors: ['TypeError: Cannot read properties'],
    kept: ['/home/dev/project/typeerr.js:3', '  return settings.port;', '    at port'],
  },
  'npm-install': {
    errors: ['npm error code ERESOLVE', 'npm error peer react@'],
    hidden: ['npm warn deprecated error-ex-old'],
  },
  'npm-missing-script': { errors: ['npm error Missing script'] },
  'npm-script': { errors: ['error TS5058:'], hidden: ['> tsc -p nowhere.json'] },
  php: {
    errors: ['PHP Fatal error:  Uncaught TypeError'],
    kept: ['Stack trace:', '#0 /home'],
    hidden: ['PHP Warning:'],
  },
  pnpm: {
    errors: ['packages/b build: src/index.ts(3,14): error TS2322', ' ELIFECYCLE'],
    hidden: ['packages/a build: Done'],
  },
  'python-syntax': {
    errors: ["SyntaxError: '(' was never closed"],
    kept: ['  File "/home/dev/project/syn.py"', '         ^'],
  },
  'python-traceback': {
    errors: [
      'Traceback (most recent call last):',
      'json.decoder.JSONDecodeError: Expecting',
      'RuntimeError: error: cannot read',
    ],
    kept: ['  File "/home/dev/project/tb.py", line 6, in read', '    raise RuntimeError('],
    hidden: ['reading settings, 0 failures'],
  },
  ruby: {
    errors: ["/home/dev/project/lib/cart.rb:14:in `total': undefined method"],
    kept: ['           ^^^^'],
    hidden: ['loading errors.rb'],
  },
  segfault: { errors: ['bash: line 1:'], hidden: ['status 139'] },
  tsc: { errors: ['src/error.ts(2,79): error TS2554', 'src/main.ts(9,56): error TS2322'] },
  'tsc-pretty': {
    errors: ['\u001b[96msrc/error.ts', 'Found 6 errors in 2 files.'],
    kept: ["\u001b[7m4\u001b[0m const user: User = { name: 'a' };"],
  },
};

export const FAILED_OUTPUTS: Readonly<Record<string, Expected>> = { ...FAILED_BUILDS, ...FAILED_TESTS };
