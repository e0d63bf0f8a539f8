import { describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { type AuditItem, Auditor } from '#src/scrub/gitleaks/auditor.js';
import { judgedBy } from '#src/scrub/gitleaks/judged.js';
import { type GitleaksFinding, type MissedSecret, missedSecrets } from '#src/scrub/gitleaks/run.js';
import { sessionNamed } from '../../../helpers/sessions.ts';

const ALLOWED = 'allowed-value-1';
const finding = (secret: string): GitleaksFinding => ({ position: 0, rule: 'r', secret });

describe('SEC-1.3 gitleaks findings in a scrubbed text', () => {
  it.each([
    ['a token', '[SECRET_12]', []],
    ['a token without brackets', 'SECRET_1234', []],
    ['a neutralised look-alike', '[SECRET\\_7]', []],
    ['a label before a token', 'Bearer [SECRET_1]', []],
    ['a secret', 'abcd1234efgh', ['abcd1234efgh']],
    ['the text left beside a token', '[SECRET_1]abcd1234efgh', ['abcd1234efgh']],
    ['nothing', '', []],
  ])('%s', (_what, secret, values) => {
    expect(missedSecrets([finding(secret), finding(secret)])).toEqual(
      values.map((value) => ({ rule: 'gitleaks/r', value })),
    );
  });
});

describe('issue 38 what gitleaks finds is judged as what our own engine finds', () => {
  const isSecret = judgedBy((rule) => rule === 'strong');

  it.each([
    ['a position in a list', '{"next_page_token":"VALUE"}', false],
    ['the value of a key', '{"api_key":"VALUE"}', true],
    ['a position in one place, a key in another', '"page_token": "VALUE"\n"api_key": "VALUE"\n', true],
    ['a value that stands there in another form', 'api_key', true],
  ])('%s', (_, text, expected) => {
    const secret = 'b7f3c2d9e8a14f60';
    const shown = text.replaceAll('VALUE', secret);
    expect(isSecret({ rule: 'generic-api-key', secret }, [shown])).toBe(expected);
    expect(isSecret({ rule: 'strong', secret }, [shown])).toBe(true);
  });
});

describe('SEC-1.1 the auditor in the background', () => {
  const item = (artifactId: string): AuditItem => ({
    session: sessionNamed('s'),
    artifactId,
    requestId: 'q',
    tool: 't',
  });
  const world = (run: (texts: readonly string[]) => Promise<GitleaksFinding[]>) => {
    const told: [string, readonly MissedSecret[]][] = [];
    const batches: number[] = [];
    const auditor = new Auditor({
      run: (texts) => {
        batches.push(texts.length);
        return run(texts);
      },
      read: async ({ artifactId }) => (artifactId === 'gone' ? null : [`text of ${artifactId}`, '']),
      isSecret: () => true,
      secretsAmong: (_item, missed) => missed.filter(({ value }) => value !== ALLOWED),
      onMissed: async ({ artifactId }, missed) => void told.push([artifactId, missed]),
      pause: async () => {},
      logger: silentLogger,
    });
    return { auditor, told, batches };
  };

  it('searches many outputs with one process, and reports which output holds the secret', async () => {
    const { auditor, told, batches } = world(async (texts) =>
      texts.flatMap((text, position) => {
        if (text.endsWith('a8')) return [{ position, rule: 'r', secret: ALLOWED }];
        return text.endsWith('a7') ? [{ position, rule: 'r', secret: 'abc123def' }] : [];
      }),
    );
    for (let at = 0; at < 250; at++) auditor.submit(item(`a${at}`));
    auditor.submit(item('gone'));
    await auditor.idle();
    expect(batches).toEqual([400, 100]);
    expect(told).toEqual([['a7', [{ rule: 'gitleaks/r', value: 'abc123def' }]]]);
    expect(auditor.state()).toEqual({
      waiting: 0,
      searched: 250,
      skipped: 0,
      failures: 0,
      missed: 1,
      missedRules: ['gitleaks/r'],
    });
  });

  it('NFR-2.3: stops without waiting for a process, whose findings are then dropped', async () => {
    const { promise: found, resolve: find } = Promise.withResolvers<GitleaksFinding[]>();
    const begun = Promise.withResolvers<void>();
    const { auditor, told } = world(() => {
      begun.resolve();
      return found;
    });
    auditor.submit(item('a7'));
    await begun.promise;
    await auditor.stop();
    find([{ position: 0, rule: 'r', secret: 'abc123def' }]);
    await found;
    await auditor.idle();
    expect([told, auditor.state().failures]).toEqual([[], 0]);
  });

  it('counts failures and skipped outputs, and continues', async () => {
    const { auditor } = world(async () => {
      throw new Error('no');
    });
    for (let at = 0; at < 2010; at++) auditor.submit(item(`a${at}`));
    expect(auditor.state().skipped).toBe(10);
    await auditor.idle();
    expect(auditor.state()).toMatchObject({ waiting: 0, failures: 10 });
    await auditor.stop();
    auditor.submit(item('late'));
    expect(auditor.state().waiting).toBe(0);
  });
});
