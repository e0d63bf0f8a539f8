import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GROUPS, loadCommands } from '../src/cli/commands.ts';
import { findInstallRoot } from '../src/config/install-root.ts';
import { PACKAGE_VERSION } from '../src/protocol/versions.ts';

const COMMANDS = await loadCommands();

/** Writes the manual page of ctxd. `man ctxd` finds it if the installation's bin/ is on PATH. */
const file = join(findInstallRoot(), 'share/man/man1/ctxd.1');
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, renderManual());

function renderManual(): string {
  return `.TH CTXD 1 "" "contextd ${PACKAGE_VERSION}" "contextd"
.SH NAME
ctxd \\- manage contextd, the tool layer for coding agents
.SH SYNOPSIS
.B ctxd
.I command
[\\fIoptions\\fR] [\\fB\\-\\-json\\fR]
.SH DESCRIPTION
contextd is a local daemon through which coding agents run their tools. ctxd sets up projects, starts and stops the
daemon, shows what agents did, and records what a person allows.
.PP
\\fB\\-\\-json\\fR prints the bare data of any command as one JSON value. Tables in a pipe are separated by tabs, with a header.
.SH COMMANDS
${COMMANDS.map(renderCommand).join('\n')}
.SH EXIT STATUS
0 if the command succeeded, 1 if it failed, 2 for a wrong command line, 69 if no daemon answers.
.SH GROUPS OF COMMANDS
${Object.entries(GROUPS)
  .map(([name, summary]) => `.TP\n\\fB${roff(name)}\\fR\n${roff(summary)}`)
  .join('\n')}
`;
}

function renderCommand({ name, summary, parameters, options }: (typeof COMMANDS)[number]): string {
  const syntax = [name.join(' '), ...parameters.map((one) => one.syntax)].map(roff).join(' ');
  const details = [...parameters, ...options].map(({ syntax, help }) => `.TP\n\\fB${roff(syntax)}\\fR\n${roff(help)}`);
  return [`.SS ctxd ${syntax}`, roff(summary), ...details].join('\n');
}

/** A backslash and a hyphen mean something to roff, and so do a dot and a quote at the start of a line. */
function roff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
}
