import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findToolchains } from '#src/cli/toolchains/find.js';
import type { RegistrySetting } from '#src/core/registries.js';
import { type EgressCommand, scopeKey } from '#src/egress/messages.js';
import { registryFiles, registryVariables } from '#src/features/network/registry-files.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import { type Mirror, startMirror } from '../fixtures/mirror-server.ts';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';
import { createAuthority } from '../helpers/authority.ts';

const HOST = 'mirror.example.com';
const OTHER = 'other.example.com';

interface Client {
  /** What must be on PATH, or a shell command that succeeds if the client is there. */
  readonly needs: string;
  /** Talks to the host `$H`, and leaves 0 if that worked. */
  readonly run: string;
  /** Only with CONTEXTD_ALL_CLIENTS=1, because of the time they take. */
  readonly isSlow?: true;
  /** The client reads registries from its settings, which name the mirror. For the other host it gets these variables. */
  readonly other?: string;
}

const work = 'rm -rf /tmp/w; mkdir /tmp/w; cd /tmp/w';
const CLIENTS: Readonly<Record<string, Client>> = {
  curl: { needs: 'curl', run: 'curl -fsS https://$H/ && curl -fsS http://$H/' },
  wget: { needs: 'wget', run: 'wget -qO- --tries=1 https://$H/' },
  'git over https': { needs: 'git', run: 'git ls-remote https://$H/left.git | grep refs/heads/main' },
  'git over ssh': {
    needs: 'ssh',
    // The server says who it is and nothing else.
    run: 'ssh -v -oBatchMode=yes -oStrictHostKeyChecking=no git@$H 2>&1 | tee /dev/stderr | grep "remote software version Mirror"',
  },
  'node fetch': {
    needs: 'node',
    run: `node -e 'fetch("https://"+process.env.H).then(async r => console.log(await r.text()))'`,
  },
  'node https': {
    needs: 'node',
    run: `node -e 'require("https").get("https://"+process.env.H, r => r.pipe(process.stdout))'`,
  },
  'python urllib': {
    needs: 'python3',
    run: `python3 -c 'import os, urllib.request as u; print(u.urlopen("https://"+os.environ["H"]).read())'`,
  },
  'python requests': {
    needs: "python3 -c 'import requests'",
    run: `python3 -c 'import os, requests; print(requests.get("https://"+os.environ["H"]).text)'`,
    isSlow: true,
  },
  'python httpx': {
    needs: "python3 -c 'import httpx'",
    run: `python3 -c 'import os, httpx; print(httpx.get("https://"+os.environ["H"]).text)'`,
    isSlow: true,
  },
  perl: {
    needs: 'perl -MHTTP::Tiny -MIO::Socket::SSL -e1',
    run: `perl -MHTTP::Tiny -e '$r=HTTP::Tiny->new->get("https://$ENV{H}/"); print $r->{content}; exit !$r->{success}'`,
    isSlow: true,
  },
  bun: {
    needs: 'bun',
    run: `bun -e 'console.log(await (await fetch("https://"+process.env.H)).text())'`,
    isSlow: true,
  },
  deno: {
    needs: 'deno',
    run: `deno eval 'console.log(await (await fetch("https://"+Deno.env.get("H"))).text())'`,
    isSlow: true,
  },
  npm: {
    needs: 'npm',
    run: `${work}; npm init -y >/dev/null; npm install --no-audit --no-fund left && node -p 'require("left")'`,
    other: 'npm_config_registry=https://$H/npm/',
  },
  yarn: {
    needs: 'yarn',
    run: `${work}; echo '{"name":"x","version":"1.0.0"}' >package.json; yarn add left`,
    isSlow: true,
    // Each refuses the variable of the other.
    other: '$(yarn --version | grep -q ^1 && echo YARN_REGISTRY || echo YARN_NPM_REGISTRY_SERVER)=https://$H/npm/',
  },
  pnpm: {
    needs: 'pnpm',
    run: `${work}; echo '{"name":"x","version":"1.0.0"}' >package.json; pnpm add left`,
    isSlow: true,
    // From version 11 on, pnpm reads the second one.
    other: 'npm_config_registry=https://$H/npm/ pnpm_config_registry=https://$H/npm/',
  },
  pip: {
    needs: 'python3 -m pip',
    run: `${work}; python3 -m pip download --no-deps left`,
    other: 'PIP_INDEX_URL=https://$H/pip/simple',
  },
  uv: {
    needs: 'uv',
    run: `${work}; uv pip install --target t left`,
    isSlow: true,
    other: 'UV_DEFAULT_INDEX=https://$H/pip/simple',
  },
  cargo: {
    needs: 'cargo',
    run: `${work}; mkdir src; echo >src/lib.rs; printf '[package]\\nname="x"\\nversion="1.0.0"\\nedition="2021"\\n[dependencies]\\nleft="1"\\n' >Cargo.toml; cargo fetch`,
    other: `CARGO_HOME=/tmp/c; mkdir -p $CARGO_HOME; printf '[source.crates-io]\\nreplace-with="m"\\n[source.m]\\nregistry="sparse+https://%s/cargo/"\\n' $H >$CARGO_HOME/config.toml`,
    isSlow: true,
  },
  go: {
    needs: 'go',
    run: `${work}; export GOMODCACHE=/tmp/w/mod; go mod init x && go mod download -modcacherw example.com/left@v1.0.0`,
    other: 'GOPROXY=https://$H/go',
    isSlow: true,
  },
  gh: {
    needs: 'gh',
    run: 'GH_HOST=$H GH_ENTERPRISE_TOKEN=none gh api meta',
    isSlow: true,
  },
  java: {
    needs: 'java',
    run: `${work}; cat >G.java <<'J'
public class G { public static void main(String[] a) throws Exception {
  System.out.write(new java.net.URL("https://" + System.getenv("H")).openStream().readAllBytes()); System.out.flush(); } }
J
java G.java`,
    isSlow: true,
  },
  'apt-get': {
    needs: 'apt-get',
    run: `${work}; apt-get update && apt-get download left && ls *.deb`,
    isSlow: true,
    other: `APT_CONFIG=/tmp/apt.conf; sed "s/${HOST}/$H/" ~/.config/apt/sources.list >/tmp/sources.list; sed 's,[^"]*/sources.list,/tmp/sources.list,' ~/.config/apt/apt.conf >$APT_CONFIG`,
  },
};

const SETTINGS: RegistrySetting[] = [
  { client: 'npm', key: 'registry', value: `https://${HOST}/npm/` },
  { client: 'yarn', key: 'registry', value: `https://${HOST}/npm/` },
  { client: 'yarn', key: 'npmRegistryServer', value: `https://${HOST}/npm/` },
  { client: 'pip', key: 'index-url', value: `https://${HOST}/pip/simple` },
  { client: 'uv', key: 'default', value: `https://${HOST}/pip/simple` },
  { client: 'cargo', key: 'source.crates-io.replace-with', value: 'mirror' },
  { client: 'cargo', key: 'source.mirror.registry', value: `sparse+https://${HOST}/cargo/` },
  { client: 'go', key: 'GOPROXY', value: `https://${HOST}/go` },
  { client: 'go', key: 'GONOSUMDB', value: '*' },
  { client: 'apt', key: 'source', value: `deb [trusted=yes] https://${HOST}/apt ./` },
];

const WAYS = {
  'with the variables': '',
  'with nothing set': 'unset HTTP_PROXY HTTPS_PROXY http_proxy https_proxy NODE_USE_ENV_PROXY;',
};

const isComplete = process.env.CONTEXTD_ALL_CLIENTS === '1';

describe.each(whoCanRun().slice(0, isComplete ? undefined : 1))('programs that use the network (%s)', (who) => {
  let bench: Bench;
  let mirror: Mirror;
  let policy: Partial<SandboxPolicy>;
  beforeAll(async () => {
    const authority = await createAuthority('Corp CA');
    mirror = await startMirror(HOST, await authority.issue(HOST));
    const known: EgressCommand[] = [
      { op: 'settings', settings: { upstream: { url: mirror.proxyUrl, noProxy: [] }, extraCa: [] } },
    ];
    bench = await openBench(who, {}, ({ ev }) => {
      if (ev === 'ready') for (const command of known) bench.sandbox.tellEgress(command);
    });
    const rule = { verdict: 'allow', privateAddresses: [], anyPrivate: false, expiresMs: null } as const;
    const rules = [HOST, `${HOST}:22`].map((pattern) => ({ ...rule, pattern }));
    const scope = scopeKey({ project: bench.workspace, tool: null });
    known.push({ op: 'policy', scope, policy: { rules, uploadMaxBytes: null } });
    const home = homedir();
    const names = { PYENV_ROOT: '.pyenv', RUSTUP_HOME: '.rustup', CARGO_HOME: '.cargo' };
    const homes = Object.entries(names).filter(([, dir]) => existsSync(join(home, dir)));
    const found = await findToolchains({
      path: process.env.PATH ?? '',
      home,
      variables: Object.fromEntries(homes.map(([name, dir]) => [name, join(home, dir)])),
      project: null,
      installRoot: '/nonexistent',
    });
    policy = {
      network: 'project',
      storage: { session: 'clients' },
      toolchains: {
        mounts: found.toolchains.flatMap(({ mounts }) => mounts),
        hidden: [],
        path: found.path,
        variables: Object.assign({}, ...found.toolchains.map(({ variables }) => variables)),
        hostPath: [],
      },
      hostNetwork: {
        certificates: [authority.pem],
        caVariables: [],
        variables: registryVariables(SETTINGS),
        homeFiles: registryFiles(SETTINGS),
      },
    };
  });
  afterAll(async () => {
    await bench?.close();
    await mirror?.close();
  });

  const inside = (host: string, way: string, script: string) =>
    bench.bash(`${way} export H=${host}; ${script}`, { timeoutMs: 25_000, env: { GOTOOLCHAIN: 'local' } }, policy);

  describe.each(Object.entries(CLIENTS))('%s', (name, { needs, run, isSlow, other }) => {
    it.each(Object.entries(WAYS))('%s: reaches an allowed host, and ends if the host is refused', async (_, unset) => {
      if (isSlow === true && !isComplete) {
        console.warn(`SKIPPED: ${name}: set CONTEXTD_ALL_CLIENTS=1`);
        return;
      }
      const present = await bench.bash(needs.includes(' ') ? needs : `command -v ${needs}`, {}, policy);
      if (present.exitCode !== 0) {
        console.warn(`SKIPPED: ${name} is not installed`);
        return;
      }
      const before = mirror.requests.length;
      const allowed = await inside(HOST, unset, run);
      expect(allowed.exitCode, `${allowed.out}${allowed.err}`).toBe(0);
      expect(mirror.requests.length).toBeGreaterThan(before);
      expect(allowed.denied.filter(({ kind, host }) => kind === 'network' && host === HOST)).toEqual([]);
      const refused = await inside(OTHER, unset, `${other === undefined ? '' : `export ${other}; `}${run}`);
      expect(refused.endedBy).toBe('exit');
      expect(refused.exitCode).not.toBe(0);
      expect(refused.denied).toContainEqual(
        expect.objectContaining({
          kind: 'network',
          host: OTHER,
          how_to_allow: expect.stringContaining(`ctxd network allow ${OTHER}`),
        }),
      );
    });
  });

  it('npm install without a permission prints why, and does not try again', async () => {
    const { run } = CLIENTS.npm ?? { run: 'false' };
    const { err, connections } = await inside(OTHER, '', `export npm_config_registry=https://$H/npm/; ${run}`);
    expect(err).toContain('ctxd network allow other.example.com');
    const asked = connections.filter(({ host }) => host === OTHER).reduce((sum, { count }) => sum + count, 0);
    expect(asked).toBeLessThan(3);
  });

  it('npm ci without a permission ends, also with more packages than npm opens connections for', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `left-${n}`);
    const dependencies = Object.fromEntries(names.map((name) => [name, '1.0.0']));
    const installed = names.map((name) => [`node_modules/${name}`, { version: '1.0.0' }]);
    const packages = { '': { dependencies }, ...Object.fromEntries(installed) };
    const write = `cd "$(mktemp -d)"; echo '${JSON.stringify({ dependencies })}' >package.json
      echo '${JSON.stringify({ lockfileVersion: 3, requires: true, packages })}' >package-lock.json`;
    const { endedBy, err } = await inside(OTHER, '', `export npm_config_registry=https://$H/npm/; ${write}; npm ci`);
    expect(endedBy).toBe('exit');
    expect(err).toContain('ctxd network allow other.example.com');
  });
});
