import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HealthCheck } from '../../call/management.ts';
import type { Config } from '../../config/schema.ts';
import { baseView } from '../../sandbox/contract/policy.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import { policyFor } from '../outside/policy.ts';

/** A name that no rule can allow. */
const PROBED = 'contextd-doctor.invalid';
/** Asks the proxy for the name as a client does, and prints how names are looked up. */
const SCRIPT = `
proxy=\${HTTP_PROXY#http://}
[ -n "$proxy" ] && exec 3<>"/dev/tcp/\${proxy%:*}/\${proxy##*:}" &&
  printf 'CONNECT ${PROBED}:443 HTTP/1.1\\r\\nHost: ${PROBED}\\r\\n\\r\\n' >&3 && head -1 <&3
cat /etc/resolv.conf`;

/** Whether the commands of a project can reach what a person allowed: a sandbox asks for a host that nobody allowed. */
export async function checkNetwork({
  sandbox,
  config,
}: {
  sandbox: Sandbox;
  config: Config;
}): Promise<Omit<HealthCheck, 'name'>> {
  const workspace = await mkdtemp(join(tmpdir(), 'contextd-network-'));
  try {
    const { loopback } = await sandbox.isolationFor(workspace);
    if (!loopback.isShared) return noNetwork(loopback.why ?? 'no command runs here', loopback.remedy ?? '');
    const result = await sandbox.run(
      { ...policyFor(baseView(workspace), config.sandbox), network: 'project' },
      {
        argv: ['bash', '-c', SCRIPT],
        cwd: workspace,
        env: {},
        stdin: null,
        timeoutMs: 10_000,
        outputMaxBytes: 65_536,
        outputKillBytes: 1_048_576,
        signal: new AbortController().signal,
      },
    );
    const said = result.stdout.head.toString();
    if (!said.startsWith('HTTP/1.1 403'))
      return noNetwork(result.denied[0]?.rule ?? 'the proxy did not answer', 'See `ctxd server logs`.');
    if (!said.includes('nameserver'))
      return {
        status: 'warn',
        detail: 'programs that ignore the proxy variables have no network: ports below 1024 cannot be opened',
        remedy: 'Run contextd as root, or let this user keep CAP_NET_BIND_SERVICE in a user namespace.',
      };
    return { status: 'ok', detail: 'commands reach the hosts that a person allowed, and no others', remedy: '' };
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

function noNetwork(why: string, remedy: string): Omit<HealthCheck, 'name'> {
  return { status: 'warn', detail: `commands have no network, whatever a person allowed: ${why}`, remedy };
}
