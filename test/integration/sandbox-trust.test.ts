import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HostNetwork } from '#src/sandbox/contract/policy.js';
import { extendJavaStore } from '#src/sandbox/trust/java-store.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';
import { type Authority, createAuthority } from '../helpers/authority.ts';

const NAME = 'mirror.example.com';
const has = (program: string): boolean => ['/usr/bin', '/bin'].some((dir) => existsSync(join(dir, program)));

/** Each prints `trusted` if it trusts the server. The variables of contextd are all that leads it. */
const CLIENTS: Record<string, string> = {
  curl: `curl -sS --resolve ${NAME}:8443:127.0.0.1 https://${NAME}:8443/`,
  wget: `wget -qO- --no-hsts https://localhost:8443/`,
  git: 'git ls-remote https://localhost:8443/x 2>&1 | grep -v certificate | grep -q "not found\\|not valid" && echo trusted',
  python3: `/usr/bin/python3 -c 'import urllib.request as u; print(u.urlopen("https://localhost:8443/").read().decode())'`,
  node: `node -e 'require("https").get("https://localhost:8443/", r => r.pipe(process.stdout))'`,
  java: `cat >/tmp/G.java <<'J'
public class G { public static void main(String[] a) throws Exception {
  System.out.write(new java.net.URL("https://localhost:8443/").openStream().readAllBytes()); System.out.flush(); } }
J
java /tmp/G.java`,
};

const SERVER = `require('https').createServer({key: require('fs').readFileSync('key.pem'), cert: require('fs').readFileSync('cert.pem')},
  (q, s) => q.url === '/' ? s.end('trusted') : s.writeHead(404).end()).listen(8443, () => require('fs').writeFileSync('/tmp/up', ''))`;

describe.each(usualWho())('the certificates of the host in a sandbox (%s)', (who) => {
  let bench: Bench;
  let authority: Authority;
  const hostNetwork = (change: Partial<HostNetwork> = {}): HostNetwork => ({
    certificates: [authority.pem],
    caVariables: [],
    variables: {},
    homeFiles: [],
    ...change,
  });
  beforeAll(async () => {
    bench = await openBench(who);
    authority = await createAuthority('Corp CA');
    const { key, cert } = await authority.issue(NAME, 'localhost');
    writeFileSync(join(bench.workspace, 'key.pem'), key, { mode: 0o644 });
    writeFileSync(join(bench.workspace, 'cert.pem'), cert);
    writeFileSync(join(bench.workspace, 'server.cjs'), SERVER);
  });
  afterAll(() => bench.close());

  it('are trusted by every client, and by none without them', { timeout: 60_000 }, async () => {
    // Java is slow, and what it reads does not depend on who runs inside.
    const clients = Object.keys(CLIENTS).filter(
      (one) => has(one) && (one !== 'java' || who !== 'workspace of uid 65534'),
    );
    const missing = [...Object.keys(CLIENTS), 'node'].filter((one) => !has(one));
    if (missing.length > 0) console.warn(`SKIPPED: not installed: ${missing.join(', ')}`);
    if (!has('node')) return;
    const each = clients.map(
      (client) => `echo "${client}: $({ ${CLIENTS[client]}\n} 2>/tmp/err || head -c 300 /tmp/err)"\n`,
    );
    const ask = async (lines: readonly string[], policy: object): Promise<string> => {
      const script = `node server.cjs & until [ -e /tmp/up ]; do read -t 0.05 <> <(:); done\n${lines.join('')}kill %1`;
      return (await bench.bash(script, { timeoutMs: 60_000 }, policy)).out;
    };
    const trusted = await ask(each, { hostNetwork: hostNetwork() });
    for (const client of clients) expect(trusted).toContain(`${client}: trusted`);
    const refused = await ask(
      each.filter((_, i) => clients[i] !== 'java'),
      {},
    );
    expect(refused).not.toContain(': trusted');
  });

  it('keep the public certificates of the system beside them', async () => {
    const count = 'grep -c BEGIN';
    const { out } = await bench.bash(
      `f=/etc/ssl/certs/ca-certificates.crt; ${count} $f; ${count} $SSL_CERT_FILE; cmp $f $SSL_CERT_FILE && echo same`,
      {},
      { hostNetwork: hostNetwork() },
    );
    const [inEtc, inBundle, same] = out.trim().split('\n');
    const onHost = readFileSync('/etc/ssl/certs/ca-certificates.crt', 'utf8').match(/BEGIN CERT/g)?.length ?? 0;
    expect([Number(inEtc), Number(inBundle), same]).toEqual([onHost + 1, onHost + 1, 'same']);
  });

  it('cannot be changed by a command', async () => {
    const { out } = await bench.bash(
      'for f in $SSL_CERT_FILE /etc/ssl/certs/ca-certificates.crt; do echo x 2>&1 >>$f; mv $f /tmp/x 2>&1; done; true',
      {},
      { hostNetwork: hostNetwork() },
    );
    expect(out.match(/Read-only|busy|Permission denied/gi)).toHaveLength(4);
  });

  it('are found by the variables that the person has set, if the system has them all', async () => {
    const network = hostNetwork({ certificates: [], caVariables: ['PIP_CERT'] });
    const { out } = await bench.bash('echo "$PIP_CERT $SSL_CERT_FILE"; ls /opt/contextd', {}, { hostNetwork: network });
    expect(out.split('\n')[0]).toBe('/etc/ssl/certs/ca-certificates.crt ');
    const without = await bench.bash(
      'echo "[$PIP_CERT$SSL_CERT_FILE]"',
      {},
      { hostNetwork: hostNetwork({ certificates: [] }) },
    );
    expect(without.out).toBe('[]\n');
  });

  it('are not found by a variable that older versions of yarn refuse', async () => {
    for (const certificates of [hostNetwork().certificates, []]) {
      const network = hostNetwork({ certificates, caVariables: ['PIP_CERT', 'YARN_HTTPS_CA_FILE_PATH'] });
      const { out } = await bench.bash('env | grep -c ^PIP_CERT; env | grep -c ^YARN_', {}, { hostNetwork: network });
      expect(out).toBe('1\n0\n');
    }
  });

  it('leave a value of the caller as it is', async () => {
    const { out } = await bench.bash('echo $PIP_CERT', { env: { PIP_CERT: '/mine' } }, { hostNetwork: hostNetwork() });
    expect(out).toBe('/mine\n');
  });

  it('come with files of registries in a HOME that commands may change', async () => {
    const network = hostNetwork({ homeFiles: [{ path: '.config/pip/pip.conf', text: '[global]\n' }] });
    const policy = { hostNetwork: network, storage: { session: 's' } };
    const first = await bench.bash(
      'cat ~/.config/pip/pip.conf; echo changed >~/.config/pip/pip.conf; stat -c %U:%a ~/.config ~/.config/pip/pip.conf',
      {},
      policy,
    );
    expect(first.out).toBe('[global]\nsandbox:700\nsandbox:600\n');
    expect((await bench.bash('cat ~/.config/pip/pip.conf', {}, policy)).out).toBe('changed\n');
    const other = hostNetwork({ homeFiles: [{ path: '.npmrc', text: 'registry=x\n' }] });
    const after = await bench.bash('ls ~/.config/pip 2>&1; cat ~/.npmrc', {}, { ...policy, hostNetwork: other });
    expect(after.out).toMatch(/No such file.*\nregistry=x\n$/);
  });
});

describe("Java's store of certificates", () => {
  const CACERTS = '/etc/ssl/certs/java/cacerts';

  it('is extended in the format of old and new versions, and stays as it is if it cannot be read', async () => {
    const authority = await createAuthority('Corp CA');
    expect(extendJavaStore(Buffer.from('not a store'), [])).toBeNull();
    if (!has('keytool') || !existsSync(CACERTS)) {
      console.warn('SKIPPED: Java is not installed');
      return;
    }
    const added = [new X509Certificate(authority.pem)];
    const dir = mkdtempSync(join(tmpdir(), 'cacerts-'));
    const [pem, p12, jks] = ['a.pem', 'a.p12', 'a.jks'].map((name) => join(dir, name));
    const before = readFileSync(CACERTS);
    const extended = extendJavaStore(before, added) ?? Buffer.alloc(12);
    expect(extended.readUInt32BE(8)).toBe(before.readUInt32BE(8) + 1);
    // As Java 18 and later ship it: without encryption.
    writeFileSync(pem ?? '', authority.pem);
    const plain = ['-nokeys', '-certpbe', 'NONE', '-keypbe', 'NONE', '-passout', 'pass:changeit'];
    execFileSync('openssl', ['pkcs12', '-export', ...plain, '-in', pem ?? '', '-out', p12 ?? '']);
    writeFileSync(jks ?? '', extendJavaStore(readFileSync(p12 ?? ''), added) ?? '');
    const list = ['-list', '-keystore', jks ?? '', '-storepass', 'changeit'];
    expect(execFileSync('keytool', list, { encoding: 'utf8' }).match(/trustedCertEntry/g)).toHaveLength(2);
    rmSync(dir, { recursive: true });
  });
});
