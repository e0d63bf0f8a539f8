import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isHarmlessContent } from '#src/guard/content/content.js';
import type { ContentRule } from '#src/guard/content/rule.js';

const HARMLESS: readonly (readonly [rule: ContentRule, text: string])[] = [
  ['toolchain of Rust', 'stable\n'],
  ['toolchain of Rust', 'nightly-2026-01-01'],
  [
    'toolchain of Rust',
    '[toolchain]\nchannel = "1.90"\ncomponents = ["rustfmt", "clippy"]\ntargets = ["wasm32-wasip2"]\nprofile = "minimal"\n',
  ],
  ['keys of Cargo', ''],
  [
    'keys of Cargo',
    '[build]\njobs = 4\ntarget-dir = "target/x"\nrustflags = ["-C", "target-cpu=native", "--cfg", "tokio_unstable", "-Dwarnings"]\n',
  ],
  [
    'keys of Cargo',
    '[target.x86_64-unknown-linux-gnu]\nlinker = "clang"\nrustflags = ["-C", "link-arg=-fuse-ld=lld"]\n',
  ],
  ['keys of Cargo', '[target.aarch64-unknown-linux-gnu]\nlinker = "aarch64-linux-gnu-gcc"\n'],
  ['keys of Cargo', '[alias]\nxtask = "run --package xtask --"\n'],
  [
    'keys of Cargo',
    '[source.crates-io]\nreplace-with = "vendored-sources"\n\n[source.vendored-sources]\ndirectory = "vendor"\n',
  ],
  [
    'keys of Cargo',
    '[profile.release]\nlto = "thin"\n[profile.dev.package."*"]\nopt-level = 2\n[registries.crates-io]\nprotocol = "sparse"\n[net]\ngit-fetch-with-cli = true\n[term]\ncolor = "always"\n',
  ],
  ['versions of Python', '3.12\n'],
  ['versions of Python', '# for uv\n3.13.1\npypy@3.10\ncpython3.12\n3.14t\n3.14.0rc1\n'],
  ['versions', '22.11.0\n'],
  ['versions', 'lts/*'],
  ['versions', 'lts/iron\n'],
  ['versions', 'v20'],
  ['versions by tool', 'nodejs 22.11.0\npython 3.12.1 system\nelixir 1.18.1-otp-27 # comment\n'],
  ['versions by tool', '# auto\njava=21.0.5-tem\n'],
  ['versions in TOML', 'node = "22.11.0"\nrust = "~1.90"\nproto = "0.50.1"\n'],
  [
    'keys of Gradle',
    'org.gradle.jvmargs=-Xmx2048m -Dfile.encoding=UTF-8\norg.gradle.caching=true\nandroid.useAndroidX=true\nversion = 1.0\n',
  ],
  ['keys of Bundler', '---\nBUNDLE_PATH: "vendor/bundle"\nBUNDLE_WITHOUT: "development:test"\n'],
  ['keys of pnpm', 'packages:\n  - "packages/*"\n- x\ncatalog:\n  react: ^19.0.0\nonlyBuiltDependencies: [esbuild]\n'],
  ['keys of global.json', '{"sdk":{"version":"9.0.100","rollForward":"latestFeature"}}'],
  ['no plugins', '{"semi":false,"overrides":[]}'],
];

const DANGEROUS: readonly (readonly [rule: ContentRule, text: string])[] = [
  ['toolchain of Rust', '[toolchain]\npath = "evil"\n'],
  ['toolchain of Rust', '[toolchain]\nchannel = "stable"\npath = "evil"\n'],
  ['toolchain of Rust', 'toolchain = { "\\u0070ath" = "evil" }\n'],
  ['toolchain of Rust', 'toolchain.path = "evil"'],
  ['toolchain of Rust', '/abs/evil\n'],
  ['toolchain of Rust', './evil'],
  ['toolchain of Rust', '[toolchain]\nchannel = "../evil"\n'],
  ['toolchain of Rust', '[toolchain\n'],
  ['keys of Cargo', '[build]\nrustc-wrapper = "./evil"\n'],
  ['keys of Cargo', 'build.rustc = "evil"\n'],
  ['keys of Cargo', 'build = { "rustc-workspace-wrapper" = "evil" }\n'],
  ['keys of Cargo', '[build]\ntarget-dir = "../../.ssh"\n'],
  ['keys of Cargo', '[build]\ntarget = "evil.json"\n'],
  ['keys of Cargo', '[build]\nrustflags = ["-C", "linker=./evil"]\n'],
  ['keys of Cargo', '[build]\nrustflags = "-Clinker=./evil"\n'],
  ['keys of Cargo', '[build]\nrustflags = ["@evil"]\n'],
  ['keys of Cargo', '[build]\nrustflags = ["-Zcodegen-backend=evil.so"]\n'],
  ['keys of Cargo', '[build]\nrustflags = ["-C"]\n'],
  ['keys of Cargo', '[target.x86_64-unknown-linux-gnu]\nrunner = "./evil"\n'],
  ['keys of Cargo', '[target."cfg(unix)"]\nrunner = "./evil"\n'],
  ['keys of Cargo', '[target.x86_64-unknown-linux-gnu]\nlinker = "./evil-gcc"\n'],
  ['keys of Cargo', '[target.x86_64-unknown-linux-gnu]\nlinker = "bash"\n'],
  ['keys of Cargo', '[target.x86_64-unknown-linux-gnu.evil]\nrustc-link-lib = ["x"]\n'],
  ['keys of Cargo', '[alias]\nclippy = "run --bin evil"\n'],
  ['keys of Cargo', '[alias]\nxtask = "install --path evil"\n'],
  ['keys of Cargo', '[env]\nPATH = "evil"\n'],
  ['keys of Cargo', '[source.crates-io]\nreplace-with = "x"\n[source.x]\nregistry = "https://example.com/"\n'],
  ['keys of Cargo', '[source.x]\ndirectory = "/tmp/evil"\n'],
  ['keys of Cargo', '[registry]\nglobal-credential-providers = ["./evil"]\n'],
  ['keys of Cargo', '[credential-alias]\nx = "./evil"\n'],
  ['keys of Cargo', '[http]\nproxy = "example.com:1"\n'],
  ['keys of Cargo', '[doc]\nbrowser = "./evil"\n'],
  ['keys of Cargo', 'include = "evil.toml"\n'],
  ['keys of Cargo', 'paths = ["/tmp/evil"]\n'],
  ['keys of Cargo', '[profile.dev]\nrustflags = ["-Clinker=evil"]\n'],
  ['keys of Cargo', '__proto__ = 1\n'],
  ['keys of Cargo', '[core]\nfsmonitor = "./evil"\n'],
  ['keys of Cargo', 'not TOML'],
  ['versions of Python', './evil\n'],
  ['versions of Python', '/tmp/evil/bin/python3.12'],
  ['versions of Python', 'evil'],
  ['versions of Python', '3.12\nevil\n'],
  ['versions of Python', '3.999'],
  ['versions of Python', 'miniforge3-22.11.1'],
  ['versions', '../evil'],
  ['versions', '/evil'],
  ['versions', '22\n$(evil)\n'],
  ['versions', 'owner/fork'],
  ['versions', '.'],
  ['versions by tool', 'python path:/tmp/evil\n'],
  ['versions by tool', 'python ref:main\n'],
  ['versions by tool', 'npm:evil 1\n'],
  ['versions by tool', 'java=../../evil\n'],
  ['versions in TOML', '[plugins]\nx = "file://./evil.wasm"\n'],
  ['versions in TOML', '[env]\nPATH = "x"\n'],
  ['keys of Gradle', 'org.gradle.java.home=./evil\n'],
  ['keys of Gradle', 'org.gradle.jvmargs=-javaagent:evil.jar\n'],
  ['keys of Gradle', '\\u006frg.gradle.java.home=./evil\n'],
  ['keys of Gradle', 'a=b\rorg.gradle.java.home=./evil\n'],
  ['keys of Gradle', 'org.gradle.java.home ./evil\n'],
  ['keys of Gradle', 'systemProp.http.proxyHost=example.com\n'],
  ['keys of Bundler', '---\nBUNDLE_GEMFILE: "/tmp/Gemfile"\n'],
  ['keys of Bundler', '---\nBUNDLE_PATH: "../evil"\n'],
  ['keys of pnpm', 'pnpmfile: ./evil.cjs\n'],
  ['keys of pnpm', '"pnpmfile": ./evil.cjs\n'],
  ['keys of pnpm', '  packages: []\n  pnpmfile: ./evil.cjs\n'],
  ['keys of pnpm', '--- {pnpmfile: ./evil.cjs}\n'],
  ['keys of pnpm', 'packages: []\r\rpnpmfile: ./evil.cjs\n'],
  ['keys of pnpm', 'packages: []\u2028pnpmfile: ./evil.cjs\n'],
  ['keys of pnpm', 'scriptShell: ./evil\n'],
  ['keys of global.json', '{"sdk":{"paths":["evil"],"version":"9.0.100"}}'],
  ['keys of global.json', '{"sdk":{"p\\u0061ths":["evil"]}}'],
  ['keys of global.json', '{"sdk":{"paths":["evil"]},"sdk":{}}'],
  ['keys of global.json', '// {}'],
  ['no plugins', '{"plugins":["./evil.js"]}'],
  ['no plugins', '{"plug\\u0069ns":["./evil.js"]}'],
];

describe('what a file may say', () => {
  it.each(HARMLESS)('SEC-2.3: passes everyday work: %s, %j', (rule, text) => {
    expect(isHarmlessContent(rule, text)).toBe(true);
  });

  it.each(DANGEROUS)('SEC-2.3: does not pass what runs or leads elsewhere: %s, %j', (rule, text) => {
    expect(isHarmlessContent(rule, text)).toBe(false);
  });

  it('SEC-2.3: passes no key of Cargo that its list does not have, however it is spelled', () => {
    const word = fc.stringMatching(/^[a-z][a-z-]{0,9}$/).filter((key) => !KNOWN.has(key));
    const spelled = fc.tuple(word, word, fc.nat(3)).map(([table, key, how]) => {
      const unicode = [...key].map((letter) => `\\u00${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
      return (
        [`[${table}]\n${key} = 1\n`, `${table}.${key} = 1`, `${table} = { ${key} = 1 }`, `"${table}"."${unicode}" = 1`][
          how
        ] ?? ''
      );
    });
    fc.assert(
      fc.property(
        spelled,
        fc.constantFrom(...HARMLESS.filter(([rule]) => rule === 'keys of Cargo').map(([, text]) => text)),
        (line, rest) => {
          expect(isHarmlessContent('keys of Cargo', `${line}\n${rest}`)).toBe(false);
        },
      ),
    );
  });

  it('SEC-2.3: passes no toolchain, version or setting that has a path in it', () => {
    const path = fc
      .tuple(fc.constantFrom('/', './', '../', '~/', 'a/', 'file://', 'C:\\'), fc.stringMatching(/^[a-z0-9.]{1,8}$/))
      .map(([start, name]) => `${start}${name}`);
    const texts: readonly (readonly [ContentRule, (path: string) => string])[] = [
      ['toolchain of Rust', (one) => one],
      ['toolchain of Rust', (one) => `[toolchain]\nchannel = '${one}'\n`],
      ['versions of Python', (one) => `3.12\n${one}\n`],
      ['versions', (one) => one],
      ['versions by tool', (one) => `python 3.12 ${one}`],
      ['versions by tool', (one) => `java=${one}`],
      ['versions in TOML', (one) => `node = '${one}'`],
    ];
    fc.assert(
      fc.property(path, fc.constantFrom(...texts), (one, [rule, textOf]) => {
        expect(isHarmlessContent(rule, textOf(one))).toBe(false);
      }),
    );
  });

  it('SEC-2.3: never throws', () => {
    fc.assert(
      fc.property(fc.constantFrom(...[...HARMLESS, ...DANGEROUS].map(([rule]) => rule)), fc.string(), (rule, text) => {
        expect(typeof isHarmlessContent(rule, text)).toBe('boolean');
      }),
    );
  });
});

/** Sections that may be set: a random word must not be one of them. */
const KNOWN: ReadonlySet<string> = new Set([
  'build',
  'alias',
  'cache',
  'env',
  'http',
  'net',
  'profile',
  'resolver',
  'source',
  'target',
  'term',
]);
