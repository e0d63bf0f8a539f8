import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identitiesHere } from '../helpers/sandbox-identities.ts';
import { askServer, NOT_CONFINED, onlyConfined, type Planted, plant, proveProcessLimit } from './planted.ts';
import { PROBE_GROUPS } from './probes/all.ts';
import { marked } from './processes.ts';

test('every one of the 66 probes exists exactly once', () => {
  const ids = PROBE_GROUPS.flatMap((group) => group.probes.map((probe) => probe.id));
  expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 66 }, (_, i) => i + 1));
});

describe.each(identitiesHere())('an escape attempt, %s', (identity) => {
  let planted: Planted;
  beforeAll(async () => {
    planted = await plant(identity);
    await proveProcessLimit(planted.ground);
  });
  afterAll(() => planted.close());

  test('has targets that can be reached on the host', async () => {
    const { facts } = planted;
    const { loopback, lan } = facts;
    const places = [
      { host: loopback.address, port: loopback.port },
      ...(lan === null ? [] : [{ host: lan.address, port: lan.port }]),
      { path: `\0${facts.abstractSocket}` },
      { path: facts.pathSocket },
    ];
    for (const place of places) expect(await askServer(place)).toBe('reached');
    expect(planted.ground.host(`cat link linkdir/outside.txt ${facts.person}/.ssh/id_planted`)).toContain(facts.secret);
    expect(marked('contextd-victim')).toContain(facts.victimPid);
  });

  describe.each(PROBE_GROUPS)('$name', ({ control, probes }) => {
    test('positive control: ordinary work succeeds', async () => {
      const { ground, facts } = planted;
      control.works(await ground.run(onlyConfined(control.script(facts)), control.change), facts);
    });

    test.each(probes)('$requirement is contained: probe $id, $name', async (probe) => {
      const { ground, facts } = planted;
      const seen = await ground.run(onlyConfined(probe.script(facts)), probe.change);
      expect(seen.exitCode).not.toBe(NOT_CONFINED);
      await probe.contained(seen, facts);
    });
  });

  test('SEC-2.5 leaves no process alive', () => {
    expect(marked(`contextd-survivor-${planted.facts.hostPid}`)).toEqual([]);
  });
});
