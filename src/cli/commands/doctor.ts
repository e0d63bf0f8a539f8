import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { checkAuditChain } from '../doctor/audit-check.ts';
import { checkAuditShipping } from '../doctor/audit-shipping.ts';
import { attempt } from '../doctor/check.ts';
import { checkClientSettings } from '../doctor/client-checks.ts';
import { checkClientVersions } from '../doctor/client-versions.ts';
import { proveClients } from '../doctor/clients/canary.ts';
import { checkCertificates, checkDaemon, checkHttp, checkParts, checkSocket } from '../doctor/daemon-checks.ts';
import { checkConfiguration, checkProxy, checkRules, checkVersions } from '../doctor/machine-checks.ts';
import { checkOtherClients } from '../doctor/other-client-checks.ts';
import { checkProject, checkReported } from '../doctor/project-checks.ts';
import { checkToolchains } from '../doctor/toolchain-checks.ts';
import type { Check } from '../render.ts';

type Step = (context: CliContext) => Promise<Check | readonly Check[]>;

const STEPS: readonly (readonly [string, Step])[] = [
  ['node', checkVersions],
  ['configuration', checkConfiguration],
  ['daemon', checkDaemon],
  ['socket', checkSocket],
  ['certificates', checkCertificates],
  ['http', checkHttp],
  ['parts of the daemon', checkParts],
  ['audit chain', checkAuditChain],
  ['audit heads elsewhere', checkAuditShipping],
  ['rules', checkRules],
  ['proxy', checkProxy],
  ['project', checkProject],
  ['reported files', checkReported],
  ['client settings', checkClientSettings],
  ['other clients', checkOtherClients],
  ['client version', checkClientVersions],
  ['toolchains', checkToolchains],
];

const clientsStep = (isAgreed: boolean) =>
  ['clients', (context: CliContext) => proveClients(context, isAgreed)] as const;

export const doctor = defineCommand({
  name: ['doctor'],
  summary: 'Check every component and suggest fixes.',
  options: [
    {
      syntax: '--clients',
      help: 'prove with the real Claude Code, OpenCode, Codex and Gemini CLI, on a scripted model, that a secret does not reach the model',
    },
    { syntax: '--yes', help: 'with --clients: start them without asking' },
  ],
  async run(context, args) {
    const checks: Check[] = [];
    const steps = args.flag('clients') ? [clientsStep(args.flag('yes'))] : STEPS;
    for (const [name, step] of steps) {
      checks.push(...(await attempt(name, () => step(context))));
      context.signal.throwIfAborted();
    }
    return { healthy: checks.every((check) => check.status !== 'fail'), checks };
  },
  view: ({ checks }) => ({ kind: 'checks', checks }),
  exitCode: ({ healthy }) => (healthy ? 0 : 1),
});
