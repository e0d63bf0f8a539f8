import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { daemonEnvironment } from '../../config/env.ts';
import { ContextdError } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';

/** What makes the service manager of a platform start the daemon. */
export interface ServiceDefinition {
  /** Where the manager looks for it. */
  readonly file: string;
  readonly text: string;
  /** Commands that make the manager read it and start the daemon, and that stop the daemon. */
  readonly enable: readonly string[];
  readonly disable: readonly string[];
}

const NAME = 'contextd';
/** The seconds within which a manager starts a daemon that failed again, and those that it has to stop. */
const RESTART_S = 5;
const STOP_S = 90;

/** A systemd user unit or a launchd agent. Throws NOT_IMPLEMENTED on another platform, PATH_INVALID for a path with a line end. */
export function serviceDefinition(
  { env, paths }: Pick<CliContext, 'env' | 'paths'>,
  platform: NodeJS.Platform,
): ServiceDefinition {
  const { NODE_V8_COVERAGE: _, ...variables } = daemonEnvironment(env);
  for (const value of [paths.launcher, paths.logFile, ...Object.values(variables)]) checkOneLine(value);
  if (platform === 'linux') {
    const file = join(env.xdgConfigHome ?? join(env.home, '.config'), 'systemd', 'user', `${NAME}.service`);
    const enable = ['systemctl --user daemon-reload', `systemctl --user enable --now ${NAME}`];
    return { file, text: unit(paths.launcher, variables), enable, disable: [`systemctl --user disable --now ${NAME}`] };
  }
  if (platform === 'darwin') {
    const file = join(env.home, 'Library', 'LaunchAgents', `${NAME}.plist`);
    const enable = [`launchctl bootstrap gui/$(id -u) ${JSON.stringify(file)}`];
    return {
      file,
      text: plist(paths.launcher, variables, paths.logFile),
      enable,
      disable: [`launchctl bootout gui/$(id -u)/${NAME}`],
    };
  }
  throw new ContextdError('NOT_IMPLEMENTED', `contextd knows no service manager of ${platform}`, {
    remedy: 'Start the daemon with `ctxd server start`.',
  });
}

/** The first line of a unit; in a plist it is in a comment. What follows the hash is covered by it. */
const MARK = 'Written by ctxd server install, sha256';
const MARKED = /^(?:# |<\?xml [^>]*\?>\n<!-- )Written by ctxd server install, sha256 ([0-9a-f]{64})(?: -->)?\n/;

/** `own`: ctxd wrote it and it was not changed since. `changed`: ctxd wrote it. `foreign`: something else did. */
export function ownerOf(text: string): 'own' | 'changed' | 'foreign' {
  const [mark, sha256] = MARKED.exec(text) ?? [];
  if (mark === undefined) return 'foreign';
  return sha256 === hashOf(text.slice(mark.length)) ? 'own' : 'changed';
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The daemon ends what it started itself, so only its own process gets the signal. */
function unit(launcher: string, variables: Readonly<Record<string, string>>): string {
  const unset = ['CONTEXTD_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'];
  const lines = [
    '[Unit]',
    'Description=contextd, the tool layer for coding agents',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${startWords(launcher)} serve`,
    ...Object.entries(variables).map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}`),
    `UnsetEnvironment=${unset.filter((name) => !(name in variables)).join(' ')}`,
    'Restart=on-failure',
    `RestartSec=${RESTART_S}`,
    `TimeoutStopSec=${STOP_S}`,
    'KillMode=mixed',
    'UMask=0077',
    'Delegate=yes',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ];
  const text = lines.filter((line) => line !== 'UnsetEnvironment=').join('\n');
  return `# ${MARK} ${hashOf(text)}\n${text}`;
}

/**
 * systemd refuses a program whose path holds quotes or a backslash, and replaces `$$` in all words but that path. So env
 * starts such a program.
 */
function startWords(launcher: string): string {
  if (!/["'\\$]/.test(launcher)) return unitWord(launcher);
  return `/usr/bin/env ${unitWord(launcher).replaceAll('$', '$$$$')}`;
}

/** systemd.syntax(7): a quoted word, in which `%` begins a specifier. */
function unitWord(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`;
}

function plist(launcher: string, variables: Readonly<Record<string, string>>, logFile: string): string {
  const strings = (values: readonly string[]): string[] => values.map((value) => `    <string>${xml(value)}</string>`);
  const pairs = Object.entries(variables).flatMap(([name, value]) => [
    `    <key>${xml(name)}</key>`,
    `    <string>${xml(value)}</string>`,
  ]);
  const text = [
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key>`,
    `  <string>${NAME}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...strings([launcher, 'serve']),
    '  </array>',
    '  <key>EnvironmentVariables</key>',
    '  <dict>',
    ...pairs,
    '  </dict>',
    '  <key>RunAtLoad</key>',
    '  <true/>',
    '  <key>KeepAlive</key>',
    '  <dict>',
    '    <key>SuccessfulExit</key>',
    '    <false/>',
    '  </dict>',
    '  <key>ThrottleInterval</key>',
    `  <integer>${RESTART_S}</integer>`,
    '  <key>ExitTimeOut</key>',
    `  <integer>${STOP_S}</integer>`,
    '  <key>Umask</key>',
    `  <integer>${0o077}</integer>`,
    '  <key>StandardErrorPath</key>',
    `  <string>${xml(logFile)}</string>`,
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<!-- ${MARK} ${hashOf(text)} -->\n${text}`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A service file has no way to write other control characters. */
function checkOneLine(value: string): void {
  const found = [...value].find((char) => char < ' ' || char === '\x7f');
  if (found === undefined) return;
  throw new ContextdError('PATH_INVALID', `${JSON.stringify(value)} cannot be in a service file`, {
    remedy: 'Use a path without line ends and control characters, in PATH too.',
  });
}
