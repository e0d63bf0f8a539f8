import { asTable, hasOnly, isBelow, isWord, parseToml, type Table } from './forms.ts';

type Check = (value: unknown) => boolean;

/**
 * Whether a configuration of Cargo (https://doc.rust-lang.org/cargo/reference/config.html) names no program, no source of
 * packages, no variable of programs and no place outside the project. Editors and prompts ask Cargo in every directory.
 */
export function isHarmlessCargoConfig(text: string): boolean {
  const file = parseToml(text);
  return file !== null && Object.entries(file).every(([key, value]) => SECTIONS.get(key)?.(value) === true);
}

const any: Check = () => true;

/** Keys that may be set, each with the check of its value. */
function keys(checks: Readonly<Record<string, Check>>): Check {
  return (value) => {
    const table = asTable(value);
    return (
      table !== null &&
      Object.entries(table).every(([key, one]) => Object.hasOwn(checks, key) && checks[key]?.(one) === true)
    );
  };
}

function each(check: Check): Check {
  return (value) => Object.values(asTable(value) ?? { none: undefined }).every(check);
}

/** https://doc.rust-lang.org/rustc/codegen-options/: options that name no program and no library. */
const CODEGEN =
  /^(?:target-cpu|target-feature|opt-level|debuginfo|debug-assertions|overflow-checks|lto|embed-bitcode|codegen-units|panic|strip|force-frame-pointers|force-unwind-tables|prefer-dynamic|relocation-model|code-model|split-debuginfo|symbol-mangling-version|control-flow-guard|no-redzone|instrument-coverage)(?:=[\w.,+-]*)?$|^link-arg=-fuse-ld=(?:lld|mold|gold|bfd|wild)$/;
const LINT_OR_CFG = /^[\w:-]+(?:=?"[\w.:-]*")?$/;

function areHarmlessFlags(value: unknown): boolean {
  const words = (Array.isArray(value) ? value : typeof value === 'string' ? value.split(/\s+/) : [null]).slice();
  while (words.length > 0) {
    const [flag, option, joined] = [words.shift(), words[0], null];
    if (typeof flag !== 'string') return false;
    if (flag === '') continue;
    const [, short, rest = ''] = /^(-[CWADF]|--cfg(?==|$)|--check-cfg(?==|$))=?(.*)$/.exec(flag) ?? [];
    if (short === undefined) return false;
    const given = rest !== '' ? rest : (option ?? joined);
    if (rest === '') words.shift();
    if (typeof given !== 'string') return false;
    if (
      short === '-C'
        ? !CODEGEN.test(given)
        : short === '--check-cfg'
          ? !/^cfg\([\w\s,()".-]*\)$/.test(given)
          : !LINT_OR_CFG.test(given)
    )
      return false;
  }
  return true;
}

/** Compilers and linkers by their usual names, which are looked up in PATH: no path, no other program. */
const isUsualLinker: Check = (value) =>
  typeof value === 'string' &&
  /^(?:[a-z0-9_]+(?:\.\d+)?-)*(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ld|ld\.lld|lld|lld-link|rust-lld|mold)(?:-\d+)?(?:\.exe)?$/.test(
    value,
  );

const TARGET = keys({
  rustflags: areHarmlessFlags,
  rustdocflags: areHarmlessFlags,
  linker: isUsualLinker,
  ar: (value) => value === 'ar' || value === 'llvm-ar',
});

const PROFILE_KEYS = [
  'inherits',
  'opt-level',
  'debug',
  'split-debuginfo',
  'strip',
  'debug-assertions',
  'overflow-checks',
  'lto',
  'panic',
  'incremental',
  'codegen-units',
  'rpath',
];

function isHarmlessProfile(value: unknown): boolean {
  const table = asTable(value);
  if (table === null) return false;
  const { package: packages = {}, 'build-override': build = {}, ...own } = table as Table & Record<string, unknown>;
  return (
    hasOnly(own, PROFILE_KEYS) &&
    [build, ...Object.values(asTable(packages) ?? { none: null })].every((one) =>
      hasOnly(asTable(one) ?? { none: null }, PROFILE_KEYS),
    )
  );
}

/** What \`cargo vendor\` proposes: packages in a directory of the project. */
const isVendoredSource: Check = (value) => {
  const table = asTable(value);
  if (table === null || !hasOnly(table, ['replace-with', 'directory', 'git', 'rev', 'tag', 'branch'])) return false;
  if (table.directory !== undefined && !isBelow(table.directory)) return false;
  return table.directory !== undefined || table['replace-with'] !== undefined;
};

const VARIABLES: ReadonlySet<string> = new Set([
  'CARGO_WORKSPACE_DIR',
  'RUST_BACKTRACE',
  'RUST_LOG',
  'RUST_TEST_THREADS',
]);

const CHECKS: Readonly<Record<string, Check>> = {
  build: keys({
    jobs: any,
    incremental: any,
    'target-dir': isBelow,
    'build-dir': isBelow,
    'dep-info-basedir': isBelow,
    rustflags: areHarmlessFlags,
    rustdocflags: areHarmlessFlags,
    target: (value) => [value].flat().every((one) => isWord(one) && !String(one).endsWith('.json')),
  }),
  // `cargo xtask` runs a program of the project that the person names (https://github.com/matklad/cargo-xtask).
  alias: keys({ xtask: (value) => /^run(?:\s|$)/.test([value].flat().join(' ')) }),
  cache: any,
  'cargo-new': keys({ vcs: isWord }),
  env: (value) => Object.keys(asTable(value) ?? { none: null }).every((name) => VARIABLES.has(name)),
  'future-incompat-report': any,
  http: keys({ timeout: any, multiplexing: any, 'low-speed-limit': any, 'user-agent': any, debug: any }),
  net: keys({ retry: any, offline: any, 'git-fetch-with-cli': any }),
  profile: each(isHarmlessProfile),
  registries: keys({ 'crates-io': keys({ protocol: isWord }) }),
  resolver: any,
  source: each(isVendoredSource),
  target: each(TARGET),
  term: any,
};

const SECTIONS: ReadonlyMap<string, Check> = new Map(Object.entries(CHECKS));
