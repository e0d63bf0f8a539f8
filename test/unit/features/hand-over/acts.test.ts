import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { Acts, holdActs, holdHooks } from '#src/features/hand-over/acts.js';
import { management } from '../../../helpers/behind.ts';

/** A service whose acts end when they are let go. */
function scene() {
  const acts = new Acts();
  const begun: string[] = [];
  const { promise: allowed, resolve: letGo } = Promise.withResolvers<void>();
  const leaving = new AbortController();
  const service = holdActs(
    management({
      async disallowPath({ path }) {
        begun.push(`remove ${path}`);
        await allowed;
        return { paths: [path] };
      },
      async listPaths() {
        begun.push('list');
        return { paths: [] };
      },
      async stopServer() {
        begun.push('stop');
        return { pid: 1, active_calls: 0, ended_calls: 0 };
      },
      installTool: (_request, signal) =>
        new Promise((_resolve, reject) => {
          begun.push('install');
          const end = (): void => reject(new ContextdError('CANCELLED', 'the installation was cancelled'));
          if (signal.aborted) end();
          signal.addEventListener('abort', end);
        }),
    }),
    acts,
    leaving.signal,
  );
  return { acts, begun, leaving, letGo, service };
}

const INSTALLATION = {
  root: '/p',
  source: './tool',
  cwd: '/p',
  submodules: false,
  lfs: false,
  commit: '',
  archive_sha256: '',
  variables: {},
};
const REMOVAL = { root: '/p', path: '/shared' };

describe('an act of a person while the daemon is replaced', () => {
  it('NFR-2.3: is over before the state moves', async () => {
    const { acts, begun, letGo, service } = scene();
    const order: string[] = [];
    const removed = service.disallowPath(REMOVAL).then(() => order.push('removed'));
    const paused = acts.pause().then(() => order.push('paused'));
    expect(begun).toEqual(['remove /shared']);
    letGo();
    await Promise.all([removed, paused]);
    expect(order).toEqual(['removed', 'paused']);
  });

  it('NFR-2.3: is not done by the daemon before once the state has moved, and its caller learns that', async () => {
    const { acts, begun, service } = scene();
    await acts.pause();
    const removed = service.disallowPath(REMOVAL);
    removed.catch(() => {});
    expect(begun).toEqual([]);
    acts.leave();
    await expect(removed).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
    await expect(service.disallowPath(REMOVAL)).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
    expect(begun).toEqual([]);
  });

  it('NFR-2.3: ends an installation that waits for a person with nothing installed, and begins none while the state moves', async () => {
    const { acts, begun, leaving, service } = scene();
    const install = (signal = new AbortController().signal) => service.installTool(INSTALLATION, signal, () => {});
    const own = new AbortController();
    const [underWay, cancelled] = [install(), install(own.signal)];
    own.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
    await acts.pause();
    const further = install();
    further.catch(() => {});
    leaving.abort();
    await expect(underWay).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
    acts.leave();
    await expect(further).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
    expect(begun).toEqual(['install', 'install']);
  });

  it('goes on if the restart is given up', async () => {
    const { acts, begun, letGo, service } = scene();
    letGo();
    await acts.pause();
    const removed = service.disallowPath(REMOVAL);
    acts.resume();
    expect(await removed).toEqual({ paths: ['/shared'] });
    expect(begun).toEqual(['remove /shared']);
  });

  it('keeps neither what only reads nor a stop waiting', async () => {
    const { acts, begun, service } = scene();
    await acts.pause();
    await service.listPaths({ root: '/p' });
    await service.stopServer({ grace_ms: 0, restart: false });
    expect(begun).toEqual(['list', 'stop']);
  });

  it('gives the restart up if it takes too long, and goes on', async () => {
    const acts = new Acts();
    const { promise: allowed, resolve: letGo } = Promise.withResolvers<string>();
    const act = acts.run(() => allowed);
    await expect(acts.pause(1)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await acts.run(async () => 'further')).toBe('further');
    letGo('done');
    expect(await act).toBe('done');
  });
});

it('NFR-2.3: a hook learns no secret in the daemon before once the state has moved', async () => {
  const acts = new Acts();
  let answered = 0;
  const hook = holdHooks(async () => {
    answered += 1;
    return null;
  }, acts);
  const event = { requestId: 'req_1', project: '/p', sessionHint: '', eventJson: Buffer.from('{}') };
  await hook(event);
  await acts.pause();
  const waiting = hook(event);
  waiting.catch(() => {});
  acts.leave();
  await expect(waiting).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
  expect(answered).toBe(1);
});
