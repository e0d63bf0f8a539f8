import { type Kind, kebab, number, one, snake, strong, title, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');
const chosen = (random: Random): string => `${word(random)}${number(100, 9999, random)}`;
const passwordOf = (random: Random): string => `«${one([quiet, quiet, chosen], random)(random)}»`;

/** A command as its arguments, with a password in one of them. */
const COMMANDS: readonly ((value: string, random: Random) => string[])[] = [
  (v) => ['redis-server', '--requirepass', v],
  (v) => ['redis-server', '--appendonly', 'yes', '--requirepass', v],
  (v, r) => ['redis-server', `/etc/${word(r)}.conf`, '--masterauth', v],
  (v) => ['redis-cli', '-a', v, 'ping'],
  (v, r) => ['redis-cli', '-h', kebab(r), '-a', v, '--raw', 'INFO'],
  (v) => ['valkey-server', '--requirepass', v],
  (v) => ['mysqladmin', 'ping', '-h', 'localhost', '-u', 'root', `-p${v}`],
  (v, r) => ['mysqldump', `-u${word(r)}`, `-p${v}`, word(r)],
  (v) => ['mariadb-admin', '--user=root', `--password=${v}`, 'status'],
  (v, r) => ['sshpass', '-p', v, 'ssh', `${word(r)}@${kebab(r)}`],
  (v, r) => ['curl', '-u', `app:${v}`, `https://${kebab(r)}.example.com/health`],
  (v, r) => ['docker', 'login', '-u', word(r), '-p', v, 'registry.example.com'],
  (v, r) => ['mongosh', '-u', word(r), '-p', v],
];

const quoted = (list: readonly string[], quote = '"'): string[] => list.map((one) => `${quote}${one}${quote}`);
const lines = (list: readonly string[], before: string): string => list.map((one) => `${before}${one}\n`).join('');

/** The ways in which files and programs write such a list. */
const WRITTEN: Readonly<Record<string, (list: string[], random: Random) => string>> = {
  'a command line': (list) => `${list.join(' ')}\n`,
  'a command line of a compose file': (list, r) => `  ${word(r)}:\n    command: ${list.join(' ')}\n`,
  'a list of JSON': (list) => `[${quoted(list).join(',')}]\n`,
  'a list with blanks': (list) => `CMD [${quoted(list).join(', ')}]\n`,
  'a list on lines': (list, r) =>
    `        "Cmd": [\n${quoted(list)
      .map((one) => `            ${one}`)
      .join(',\n')}\n        ],\n        "Image": "${word(r)}:${number(1, 9, r)}",\n`,
  'a health check': (list) =>
    `    healthcheck:\n      test: [${quoted(['CMD', ...list]).join(', ')}]\n      interval: 5s\n`,
  'a health check of a shell': (list) => `      test: ["CMD-SHELL", "${list.join(' ')} || exit 1"]\n`,
  'a list in a string': (list) => `{"msg":"exec [${quoted(list, '\\"').join(',')}]"}\n`,
  'a call of Python': (list) => `subprocess.run([${quoted(list, "'").join(', ')}], check=True)\n`,
  'a call of Go': (list, r) => `\t${word(r)} := exec.Command(${quoted(list).join(', ')})\n`,
  'a call of Node.js': ([program = '', ...list], r) =>
    `const ${word(r)} = spawn('${program}', [${quoted(list, "'").join(', ')}]);\n`,
  'a call of Rust': ([program = '', ...list]) => `Command::new("${program}").args([${quoted(list).join(', ')}]);\n`,
  'a list of YAML': (list) => `          command:\n${lines(list, '            - ')}          ports:\n`,
  'a list of YAML in quotes': (list) => `    command:\n${lines(quoted(list), '    - ')}    image: x\n`,
  'kubectl describe': (list, r) => `    Args:\n${lines(list, '      ')}    State:  Running\n      ${title(r)}:\n`,
};

/** Lists that hold no password, whatever options stand in them. */
const WITHOUT: readonly ((random: Random) => string)[] = [
  (r) => `["docker", "run", "-p", "${number(80, 9000, r)}:80", "${word(r)}"]\n`,
  (r) => `["mkdir", "-p", "${word(r)}/${word(r)}${number(10, 99, r)}"]\n`,
  (r) => `["rsync", "-a", "${word(r)}${number(2000, 2026, r)}/", "${word(r)}:/srv/${word(r)}"]\n`,
  () => '["mysqladmin", "ping", "-p$MYSQL_ROOT_PASSWORD"]\n',
  () => `command: ["redis-server", "--requirepass", "\${REDIS_PASSWORD}"]\n`,
  () => `        args:\n        - --requirepass\n        - $(REDIS_PASSWORD)\n`,
  () => 'redis-server --requirepass <password>\nredis-cli -a "$REDIS_PASSWORD" ping\n',
  (r) => `    parser.add_argument("-p", "--password", help="${word(r)} ${word(r)}")\n`,
  (r) => `    parser.add_argument('--${word(r)}-token', default='${word(r)}', dest='${snake(r)}')\n`,
  (r) => `    parser.add_argument("--secret", action="store_true", metavar="${word(r).toUpperCase()}")\n`,
  (r) => `  .option('-p, --password <password>', '${word(r)} ${word(r)}')\n`,
  (r) => `const args = ['--password', ${word(r)}Password, '--user', ${word(r)}];\n`,
  (r) => `spawn('mysql', ['-u', ${word(r)}, '-p', ${word(r)}]);\n`,
  (r) => `expect(parse(["-p", "${number(1024, 9999, r)}"])).toEqual({ port: 1 });\n`,
  (r) => `    Args:\n      --token-file\n      /var/run/${word(r)}/token\n      --v=2\n`,
  (r) =>
    `- --password <value>  ${word(r)} ${word(r)}\n- --token <value>  ${word(r)}\n- ${word(r)}${number(10, 99, r)}\n`,
];

/** An option and its value are a pair in whatever way a list of arguments is written. */
export const argumentLists: Kind = {
  name: 'lists of arguments',
  makers: {
    ...Object.fromEntries(
      Object.entries(WRITTEN).map(([name, write]) => [
        name,
        (random: Random) => ({ texts: [write(one(COMMANDS, random)(passwordOf(random), random), random)] }),
      ]),
    ),
    'what is no password': (random) => ({ texts: [one(WITHOUT, random)(random)] }),
  },
};
