import { ANY_HOLE, hasHole } from './pattern.ts';
import { baseName } from './wrappers.ts';

/** How a program that otherwise runs none of its words runs some of them. */
interface Program {
  /**
   * Options whose value may be run as a command: `-P`, `--pager`. A value follows as the next word, or attached; a long name may be
   * shortened. `grep -O`: only behind the subcommand.
   */
  readonly runs?: readonly string[];
  /** Options whose value is a setting, `KEY=TEXT`, which names a command for some keys. */
  readonly sets?: readonly string[];
  /** Words, such as subcommands, with which the program may run any word. */
  readonly open?: readonly string[];
}

const CONTAINERS: Program = {
  open: ['run', 'exec', 'create', 'compose', 'buildx', 'service', 'stack', 'debug', 'sandbox'],
};
const PACKAGES: Program = {
  runs: ['--script-shell', '--shell', '--editor', '--viewer', '--browser', '--git', '-c', '--call'],
  open: [
    ...[
      'exec',
      'x',
      'dlx',
      'run',
      'run-script',
      'rum',
      'urn',
      'pkg',
      'set',
      'config',
      'c',
      'explore',
      'create',
      'init',
      'node',
    ],
  ],
};
const APT: Program = { sets: ['-o', '--option'] };
const CONDA: Program = { open: ['run', 'exec', 'shell'] };

/**
 * Programs that never run a word of theirs, except as stated. Every other program may run any of its words, so an entry here must name
 * each way in which the program runs one: an option that it does not name is never looked into.
 */
const QUIET: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(
    [
      '. : [ basename bg break cat cd chgrp chmod chown cksum cmp column comm continue cp curl cut date dd df diff dig dirname du',
      'echo egrep exit expand expr false fg fgrep file fmt fold grep groups gunzip gzip hash head help history host hostname',
      'iconv id jobs join journalctl jq kill killall ln locale ls lsof md5sum mkdir mktemp mv nl nproc od paste patch pgrep',
      'pidof ping pkill printenv printf ps pwd read readlink realpath rm rmdir seq sha1sum sha256sum shift shuf sleep',
      'source split stat sum systemctl tac tail tee test touch tr tree true truncate tty type uname uniq unset unzip uptime',
      'logger notify-send wall write say wait wc whatis whereis which who whoami xxd yes zcat',
      // `find -exec` is read elsewhere.
      'dnf pacman yum zypper apk find',
    ].flatMap((line) => line.split(' ').map((name): [string, Program] => [name, {}])),
  ),
  apt: APT,
  'apt-cache': APT,
  'apt-get': APT,
  aws: { open: ['configure', 'ssm', 'emr', 'ecs', 'lambda'] },
  az: { open: ['run-command', 'ssh', 'exec', 'serial-console'] },
  brew: { open: ['sh', 'exec', 'ruby', 'irb', 'bundle', 'services'] },
  conda: CONDA,
  docker: CONTAINERS,
  dpkg: { runs: ['--pre-invoke', '--post-invoke', '--status-logger'] },
  gcloud: { open: ['ssh', 'scp', 'run', 'builds'] },
  gem: { runs: ['--editor', 'open -e'], open: ['exec'] },
  gh: { open: ['alias', 'clone', 'codespace', 'cs', 'config', 'exec', 'ext', 'extension', 'extensions'] },
  git: {
    runs: [
      ...[
        '--upload-pack',
        '--receive-pack',
        '--exec',
        '--extcmd',
        '--sendmail-cmd',
        '--smtp-server',
        '--open-files-in-pager',
      ],
      ...['clone -u', 'grep -O'],
    ],
    sets: ['-c', '--config'],
    open: [
      ...[
        'bisect',
        'config',
        'daemon',
        'difftool',
        'filter-branch',
        'for-each-repo',
        'hook',
        'instaweb',
        'merge-index',
        'mergetool',
      ],
      ...['rebase', 'remote-ext', 'send-email', 'shell', 'submodule', 'web--browse'],
    ],
  },
  go: {
    runs: ['-exec', '-toolexec', '-vettool', '--exec', '--toolexec', '--vettool'],
    open: ['run', 'tool', 'env', 'generate'],
  },
  gsutil: APT,
  kubectl: { open: ['exec', 'run', 'debug', 'attach', 'create', 'config', 'plugin', 'edit'] },
  mamba: CONDA,
  man: { runs: ['-P', '--pager', '-H', '--html'] },
  npm: PACKAGES,
  nvm: { open: ['exec', 'run'] },
  pip: { runs: ['--python', '--editor'], open: ['config'] },
  pip3: { runs: ['--python', '--editor'], open: ['config'] },
  podman: CONTAINERS,
  rg: { runs: ['--pre', '--hostname-bin'] },
  rpm: { runs: ['--pipe', '-E', '--eval', '-D', '--define'] },
  snap: { open: ['run'] },
  sort: { runs: ['--compress-program'] },
  wget: { runs: ['--use-askpass', '-e', '--execute'] },
  yarn: PACKAGES,
  zip: { runs: ['-TT', '--unzip-command'] },
};

function programOf(name: string): Program | undefined {
  return Object.hasOwn(QUIET, name) ? QUIET[name] : undefined;
}

/** True if the program runs none of its words but those that `textsRunBy` has. */
export function isQuiet(name: string, rest: readonly string[]): boolean {
  const program = programOf(name);
  const opens = (word: string): boolean => program?.open?.some((one) => isShort(word, one)) === true;
  return program !== undefined && !rest.some(opens);
}

/** npm and others take the beginning of a subcommand for the whole. */
function isShort(word: string, subcommand: string): boolean {
  return word === subcommand || (word.length > 1 && subcommand.startsWith(word));
}

/** Keys of settings that name a command, by a word in them: `core.pager`, `diff.x.textconv`, `Dpkg::Pre-Invoke`. */
const RUNNING_KEY =
  /^alias\.|askpass|browser|clean|cmd|command|driver|editor|external|filter|fsmonitor|gitproxy|helper|hook|httpd|invoke|pager|process|program|receivepack|smudge|textconv|tunnel|uploadpack/i;
/** The same for names of variables: `GIT_SSH_COMMAND`, `MANPAGER`, `RSYNC_RSH`, `CC`. */
const RUNNING_NAME =
  /(?:ASKPASS|BROWSER|CLOSE|CMD|COMMAND|DIFF|EDITOR|EXEC|LAUNCHER|OPEN|PAGER|RSH|RUNNER|SSH|VISUAL|WRAPPER)$|^(?:AR|CC|CXX|LD|SHELL)$/;
/** The same for `--OPTION=TEXT` and `KEY=TEXT` of any program: `--to-command`, `ProxyCommand`. */
const RUNNING_OPTION =
  /^(?:--?|-o)?[\w-]*(?:askpass|browser|cmd|command|editor|exec|helper|hook|invoke|pager|program|rsh)$/i;

/** Variables that hold the value of a setting of git, of any key. */
const GIT_SETTING = /^GIT_CONFIG_VALUE_\d+$/;

/** Keys that never name a command. */
const NAMES_PERSON = /^user\./i;

/** The texts in the words of a command that its program runs, as far as options and settings say so. */
export function textsRunBy(words: readonly string[]): string[] {
  const [first = '', ...rest] = words;
  const name = baseName(first);
  const program = programOf(name);
  if (program === undefined) return rest.flatMap(namedText);
  const values = valuesOf(rest, program.runs ?? []);
  const settings = valuesOf(rest, program.sets ?? []).flatMap((setting) => settingText(name, setting));
  // An address of git can be the command that speaks with it.
  const addresses = rest.flatMap((word) => /^(?:--?[\w-]+=)?ext::(.*)$/s.exec(word)?.[1] ?? []);
  const named = isQuiet(name, rest) ? [] : rest.flatMap(namedText);
  return [...values, ...settings, ...addresses, ...named];
}

/** Settings of the command. For a key of which nothing is known the value may be a command. */
export function settingsIn([first = '', ...rest]: readonly string[]): string[] {
  return valuesOf(rest, programOf(baseName(first))?.sets ?? []).filter(
    (setting) => setting.includes('=') && !NAMES_PERSON.test(setting),
  );
}

/** The text of `NAME=TEXT` if programs run what has that name. One that begins with unknown words is no reason to ask. */
export function namedText(word: string): string[] {
  const [, name = '', given = ''] = /^([\w-]+)\+?=(.*)$/s.exec(word) ?? [];
  const isSetting = GIT_SETTING.test(name);
  if (!isSetting && !RUNNING_NAME.test(name) && !RUNNING_OPTION.test(name)) return [];
  // `LESSOPEN` begins with a pipe.
  const text = given.replace(/^[\s|-]+/, '');
  if (hasHole(text.charAt(0))) return [];
  return isSetting ? [text, ...settingText('git', `alias.x=${text}`)] : [text];
}

function settingText(program: string, setting: string): string[] {
  const [, address] = /(?:^url\.|=)ext::(.*)$/s.exec(setting) ?? [];
  if (address !== undefined) return [address.replace(/\.(?:push)?insteadof=.*$/is, '')];
  const [, key = '', text = ''] = /^([^=]+)=(.*)$/s.exec(setting) ?? [];
  if (text.startsWith('!')) return [`${text.slice(1)} ${ANY_HOLE}`];
  if (!RUNNING_KEY.test(key)) return [];
  // The program puts further words of the command behind an alias.
  return [/^alias\./i.test(key) ? `${program} ${text} ${ANY_HOLE}` : text];
}

/** The values of options, in each form in which they can be given. */
function valuesOf(rest: readonly string[], options: readonly string[]): string[] {
  const here = options.flatMap((option) => {
    const [subcommand, name] = option.includes(' ') ? option.split(' ') : [undefined, option];
    return name === undefined || (subcommand !== undefined && !rest.includes(subcommand)) ? [] : [name];
  });
  if (here.length === 0) return [];
  // `--` may be the value of another option, so nothing ends the options here.
  return rest.flatMap((word, index) => here.flatMap((name) => valueIn(name, word, rest[index + 1])));
}

function valueIn(name: string, word: string, next: string | undefined): string[] {
  if (word === name) return next === undefined ? [] : [next];
  const [, given = '', value] = /^(--?[\w-]{2,})(?:=(.*))?$/s.exec(word) ?? [];
  if (given === name) return value === undefined ? [] : [value];
  if (name.startsWith('--')) {
    const isShortened = given.startsWith('--') && given.length > 3 && name.startsWith(given);
    return isShortened ? [value ?? next ?? ''] : [];
  }
  if (name.length > 2) return word.startsWith(name) ? [word.slice(name.length)] : [];
  // `-Pless`, `-xPless`, and with the value as the next word `-xP`.
  if (!/^-[A-Za-z0-9]/.test(word) || word.startsWith('--')) return [];
  const at = word.indexOf(name.slice(1), 1);
  if (at === -1 || !/^-[A-Za-z0-9]*$/.test(word.slice(0, at))) return [];
  return [word.slice(at + 1) || (next ?? '')];
}
