import { isHarmlessCargoConfig } from './cargo.ts';
import { asTable, hasOnly, isWord, parseToml } from './forms.ts';
import type { ContentRule } from './rule.ts';

/**
 * Whether a file is harmless although its name says that programs may run what it names. Each rule lists what may be said,
 * so what a program learns to read later is not harmless. `text`: the whole file.
 */
export function isHarmlessContent(rule: ContentRule, text: string): boolean {
  return RULES[rule](text);
}

const RULES: Readonly<Record<ContentRule, (text: string) => boolean>> = {
  'toolchain of Rust': isRustToolchain,
  'keys of Cargo': isHarmlessCargoConfig,
  'keys of Gradle': isHarmlessGradleProperties,
  'keys of Bundler': (text) => linesOf(text).every((line) => line === '---' || BUNDLER_LINE.test(line)),
  'keys of pnpm': (text) =>
    linesOf(text).every((line, at) => PNPM_LINE.test(line) || (at > 0 && /^(?:[ \t]|- )/.test(line))),
  'keys of global.json': isHarmlessGlobalJson,
  'versions of Python': (text) => linesOf(text).every((line) => PYTHON_VERSION.test(line.trim())),
  versions: (text) => linesOf(text).every((line) => line.trim().split(/\s+/).every(isVersion)),
  'versions by tool': (text) => linesOf(text).every(isToolLine),
  'versions in TOML': hasOnlyVersions,
  'no plugins': (text) => !/plugin|\\/i.test(text),
};

/** Lines that say something. YAML and Java's properties end a line at more characters than Unix does. */
function linesOf(text: string): string[] {
  return text.split(/[\n\r\f\u0085\u2028\u2029]/).filter((line) => !/^\s*(?:#|$)/.test(line));
}

/** https://rust-lang.github.io/rustup/overrides.html#the-toolchain-file; a file of one word is the older form. */
function isRustToolchain(text: string): boolean {
  const file = parseToml(text);
  if (file === null) return isWord(text.trim());
  const toolchain = asTable(file.toolchain ?? {});
  if (toolchain === null || !hasOnly(file, ['toolchain'])) return false;
  if (!hasOnly(toolchain, ['channel', 'components', 'targets', 'profile'])) return false;
  return Object.values(toolchain).flat().every(isWord);
}

/**
 * uv takes what is not a version for the path of an interpreter, also if it has no slash, and reads numbers of one byte
 * (https://docs.astral.sh/uv/concepts/python-versions/#requesting-a-version).
 */
const PYTHON_VERSION =
  /^(?:(?:cpython|pypy|graalpy)@?[23](?:\.\d{1,2}){0,2}|[23](?:\.\d{1,2}){0,2}t?|[23]\.\d{1,2}\.\d{1,2}(?:a|b|rc)\d{1,2})$/;

/** A version or its name: no path, no address, no `..`. nvm has `lts/*` and `lts/iron`. */
function isVersion(word: string): boolean {
  return (
    (/^[\w.+*-]+$/.test(word) && !word.includes('..') && !word.startsWith('.')) || /^lts\/(?:\*|[a-z]+)$/.test(word)
  );
}

/** `tool version…` of asdf, `tool=version` of SDKMAN!. */
function isToolLine(line: string): boolean {
  const [tool = '', ...versions] = (line.split('#')[0] ?? '').trim().split(/\s+|=/);
  return /^[a-z0-9][\w-]*$/i.test(tool) && versions.every(isVersion);
}

/** https://moonrepo.dev/docs/proto/config: tools at the top; plugins, settings and variables are tables. */
function hasOnlyVersions(text: string): boolean {
  const file = parseToml(text);
  if (file === null) return false;
  return Object.values(file).every((value) => typeof value === 'string' && isVersion(value.replace(/^[~^]|^>=?/, '')));
}

/** https://docs.gradle.org/current/userguide/build_environment.html; keys of other programs go to the build itself. */
const GRADLE_KEYS: ReadonlySet<string> = new Set(
  [
    'caching',
    'caching.debug',
    'configuration-cache',
    'configuration-cache.problems',
    'configuration-cache.parallel',
    'configureondemand',
    'console',
    'continue',
    'daemon',
    'daemon.idletimeout',
    'debug',
    'logging.level',
    'parallel',
    'priority',
    'unsafe.configuration-cache',
    'vfs.verbose',
    'vfs.watch',
    'warning.mode',
    'welcome',
    'workers.max',
    'unsafe.isolated-projects',
    'java.installations.auto-detect',
    'java.installations.auto-download',
  ].map((key) => `org.gradle.${key}`),
);
/** Options of a Java machine that set sizes, collectors and encodings. */
const JAVA_OPTION =
  /^(?:-Xm[sx]\d+[kmg]?|-Xss\d+[kmg]?|-XX:Max(?:Metaspace|Perm)Size=\d+[kmg]?|-XX:\+Use\w+GC|-XX:\+HeapDumpOnOutOfMemoryError|-Dfile\.encoding=[\w-]+|-Duser\.(?:country|language)=\w+)$/i;

function isHarmlessGradleProperties(text: string): boolean {
  // A backslash can spell a key or continue a line.
  if (text.includes('\\')) return false;
  return linesOf(text).every((line) => {
    const [, key = '', value = ''] = /^\s*([^\s=:]+)\s*[=:]?\s*(.*)$/.exec(line) ?? [];
    if (key === 'org.gradle.jvmargs' || key === 'kotlin.daemon.jvmargs')
      return value
        .trim()
        .split(/\s+/)
        .every((option) => JAVA_OPTION.test(option));
    if (/^systemProp\./i.test(key)) return false;
    return !/^org\.gradle\./i.test(key) || GRADLE_KEYS.has(key.toLowerCase());
  });
}

/** https://bundler.io/man/bundle-config.1.html: sizes and switches, and a directory below the project. */
const BUNDLER_LINE =
  /^BUNDLE_(?:(?:WITHOUT|WITH|JOBS|RETRY|DEPLOYMENT|FROZEN|CLEAN|NO_PRUNE|TIMEOUT|DISABLE_VERSION_CHECK|FORCE_RUBY_PLATFORM|IGNORE_MESSAGES|SPECIFIC_PLATFORM|CACHE_ALL|CACHE_ALL_PLATFORMS): "?[\w: -]*"?|(?:PATH|CACHE_PATH): "?(?!\.)[\w-]+(?:\/[\w-]+)*"?)$/;

/** https://pnpm.io/settings: what is installed, and not by which program, from where or with which hooks. */
const PNPM_LINE =
  /^(?:packages|catalogs?|catalogMode|overrides|packageExtensions|peerDependencyRules|onlyBuiltDependencies|ignoredBuiltDependencies|neverBuiltDependencies|allowBuilds|allowedDeprecatedVersions|auditConfig|autoInstallPeers|cleanupUnusedCatalogs|dedupePeerDependents|dedupeDirectDeps|engineStrict|hoist|hoistPattern|ignorePatchFailures|injectWorkspacePackages|linkWorkspacePackages|minimumReleaseAge|minimumReleaseAgeExclude|nodeLinker|patchedDependencies|preferWorkspacePackages|publicHoistPattern|resolutionMode|saveExact|savePrefix|saveWorkspaceProtocol|sharedWorkspaceLockfile|shamefullyHoist|strictDepBuilds|strictPeerDependencies|supportedArchitectures|trustPolicy|updateConfig|verifyDepsBeforeRun|blockExoticSubdeps)[ \t]*:(?:[ \t]|$)/;

/** https://learn.microsoft.com/dotnet/core/tools/global-json: `sdk.paths` leads to another program. */
function isHarmlessGlobalJson(text: string): boolean {
  // Of a key that is there twice, programs take the first or the last one.
  if (/paths|\\/i.test(text)) return false;
  try {
    const file = asTable(JSON.parse(text));
    const sdk = asTable(file?.sdk ?? {});
    if (file === null || sdk === null || !hasOnly(file, ['sdk', 'msbuild-sdks', 'test', '$schema'])) return false;
    return hasOnly(sdk, ['version', 'rollForward', 'allowPrerelease', 'errorMessage']);
  } catch {
    return false;
  }
}
