import { resolve } from 'node:path';
import type { AuditReport, KeptHead } from '../../audit/check.ts';
import { EXPORT_FORMATS, type ExportFormat, exporterOf } from '../../audit/export.ts';
import { chainPlaces, type HeadLine, headLine, readHead, readKey } from '../../audit/head.ts';
import { otherLogDir, verifyOtherLog } from '../../audit/other-log.ts';
import { RecordReader } from '../../audit/record-reader.ts';
import { type AuditFilter, readAuditLog, searchAuditLog } from '../../audit/select.ts';
import { readShipments } from '../../audit/shipped.ts';
import { verifyAuditLog } from '../../audit/verify.ts';
import { durationMs } from '../../core/duration.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { inThousands } from '../../core/thousands.ts';
import { readKeptHeads, readSignedHeads, type SignedHead } from '../audit/kept-heads.ts';
import { signText } from '../audit/ssh-signature.ts';
import { type Command, defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { projectOption } from '../project-root.ts';
import { write } from '../render.ts';
import { recordTable, reportOtherLogs, reportUnreadable } from './audit-tail.ts';

const FOUND_DEFAULT = 50;
const FOUND_MAX = 10_000;

const OF = { syntax: '--of <machine>', help: 'the log of another machine, which a backup brought along' } as const;

const FILTERS = [
  OF,
  { syntax: '--since <when>', help: 'not older than: 30m, 12h, 7d, or a date such as 2026-01-31' },
  { syntax: '--until <when>', help: 'not newer than' },
  { syntax: '--tool <name>', help: 'only calls of a tool, or acts of a person by their command' },
  { syntax: '--session <id>', help: 'only records of a session' },
  { syntax: '--project [dir]', help: 'only records of a project (default: the current project)' },
  { syntax: '--door <name>', help: 'only what came by a door, such as grpc, http, mcp, shell, hook or ctxd' },
  { syntax: '--failed', help: 'only what failed' },
] as const;

interface VerifyResult extends AuditReport {
  /** Heads that were kept elsewhere and compared; absent without --against. */
  readonly heads_counted?: number;
}

const verify = defineCommand<VerifyResult>({
  name: ['audit', 'verify'],
  summary: 'Prove that the audit log is as it was written, and say where it is not. Needs no daemon.',
  options: [
    OF,
    {
      syntax: '--against <file>',
      help: 'also compare it with heads that were kept elsewhere (`ctxd audit head`; JSON lines)',
    },
    {
      syntax: '--allowed-signers <file>',
      help: 'with --against: only heads that someone in this file signed count (ssh-keygen(1), ALLOWED SIGNERS)',
    },
  ],
  async run({ paths, cwd }, args) {
    const { auditDir: ownDir, otherAuditDir: dir } = paths;
    const log = args.text('of');
    const verifyLog = (heads: readonly KeptHead[] = []): Promise<AuditReport> =>
      log === undefined ? verifyOwnLog(ownDir, heads) : verifyOtherLog({ dir, log, ownDir }, heads);
    const [file, signers] = [args.text('against'), args.text('allowed-signers')];
    if (file === undefined && signers !== undefined) {
      throw new ContextdError('ARGS_INVALID', '--allowed-signers needs heads to check', {
        remedy: 'Name a file of signed heads with --against.',
      });
    }
    if (file === undefined) return verifyLog();
    const path = resolve(cwd, file);
    const kept = signers === undefined ? await readKeptHeads(path) : await readSignedHeads(path, resolve(cwd, signers));
    const report = await verifyLog(kept.heads);
    const none = kept.heads.length === 0 ? ['No head counted: nothing proves that the log was not written again'] : [];
    const notes = [...report.notes, ...kept.notes, ...kept.unproven, ...none];
    return { ...report, notes, heads_counted: kept.heads.length };
  },
  view: (report) => ({ kind: 'lines', lines: inWords(report) }),
  exitCode: ({ faults, heads_counted: counted }) => (faults.length > 0 || counted === 0 ? 1 : 0),
});

/** Throws NOT_FOUND if there is nothing to prove: a log that was removed with its key must not look like a whole one. */
async function verifyOwnLog(dir: string, heads: readonly KeptHead[]): Promise<AuditReport> {
  const report = await verifyAuditLog(dir, heads);
  const { segments, unchained, faults } = report;
  if (segments + unchained + faults.length > 0) return report;
  throw new ContextdError('NOT_FOUND', `there is no audit log in ${dir}`, {
    remedy: 'The first call or act of a person begins it. If there was one: is CONTEXTD_HOME that of the daemon?',
  });
}

function inWords({
  head: last,
  records,
  segments,
  since,
  unchained,
  faults,
  moreFaults,
  notes,
}: AuditReport): string[] {
  const count = (number: number, word: string): string => `${inThousands(number)} ${word}${number === 1 ? '' : 's'}`;
  const size = `${count(records, 'record')} in ${count(segments, 'segment')}`;
  const before = unchained === 0 ? [] : [`${count(unchained, 'record')} from before there was a chain: not proven`];
  // The lines of the log are the records and those that begin and end a segment.
  const lastLine = last === null ? '' : `, last line seq ${last.seq}`;
  const isWhole = faults.length === 0;
  const first = isWhole
    ? `ok: ${size}${since === '' ? '' : `, unbroken since ${since.slice(0, 10)}`}${lastLine}`
    : `broken: ${size}`;
  return [
    first,
    ...faults.map(({ file, line, what }) =>
      [file, line === 0 ? '' : `:${line}`, file === '' ? '' : ' ', what].join(''),
    ),
    ...(moreFaults === 0 ? [] : [`and ${count(moreFaults, 'more place')}`]),
    ...notes,
    ...before,
  ];
}

const head = defineCommand<HeadLine | SignedHead>({
  name: ['audit', 'head'],
  summary: 'Print the head of the audit log, to keep elsewhere: `ctxd audit verify --against` compares with it.',
  options: [{ syntax: '--sign <key>', help: 'sign it with an SSH key (`ssh-keygen -Y sign`)' }],
  run: async (context, args) => {
    const { paths, cwd } = context;
    const places = chainPlaces(paths.auditDir);
    const key = readKey(places);
    const known = key === null ? 'missing' : readHead(places, key);
    if (typeof known !== 'string') {
      const line = headLine(known, Date.now());
      await reportShipments(context);
      const signingKey = args.text('sign');
      if (signingKey === undefined) return line;
      const signed = JSON.stringify(line);
      return { signed, signature: await signText(signed, resolve(cwd, signingKey)) };
    }
    throw new ContextdError('NOT_FOUND', `the audit log has no head that can be trusted: it is ${known}`, {
      remedy: 'Run `ctxd audit verify`.',
    });
  },
  view: (line) => ({ kind: 'lines', lines: [JSON.stringify(line)] }),
});

/** Says on stderr which heads other machines have. */
async function reportShipments({ paths, stderr }: CliContext): Promise<void> {
  for (const { place, seq, sent, fault } of Object.values(readShipments(paths.auditDir))) {
    // A version that did not keep names wrote it.
    if (place === '') continue;
    const last = seq === 0 ? 'has no head yet' : `has the head of record ${seq} since ${sent}`;
    await write(stderr, `ctxd: ${place} ${last}${fault === '' ? '' : `, and ${fault}`}\n`);
  }
}

const search = defineCommand<readonly JsonObject[]>({
  name: ['audit', 'search'],
  summary: 'Find records of the audit log by a part of their masked input, oldest first. Needs no daemon.',
  parameters: [{ syntax: '[text]', help: 'a part of the input, without regard to case (default: any)' }],
  options: [
    ...FILTERS,
    {
      syntax: '-n, --lines <count>',
      help: `number of records, the newest ones (default ${FOUND_DEFAULT}, at most ${FOUND_MAX})`,
    },
  ],
  async run(context, args) {
    const filter = { ...(await filterOf(context, args)), text: args.word(0) ?? '' };
    const [reader, limit] = [new RecordReader(), args.count('lines', FOUND_DEFAULT, FOUND_MAX)];
    const found = await searchAuditLog(await logDir(context, args), filter, limit, reader);
    await reportUnreadable(context, reader.unreadable);
    if (found.length === 0 && args.text('of') === undefined) await reportOtherLogs(context);
    return found.map(({ record }) => asJson(record));
  },
  view: (records) => recordTable(records, 'no record fits'),
});

const exportLog = defineCommand<number>({
  name: ['audit', 'export'],
  summary: 'Write the records of the audit log to standard output, oldest first. Needs no daemon.',
  options: [
    ...FILTERS,
    { syntax: '--format <format>', help: `${EXPORT_FORMATS.join(', ')} (default ${EXPORT_FORMATS[0]})` },
  ],
  async run(context, args) {
    const exporter = exporterOf(formatOf(args.text('format') ?? EXPORT_FORMATS[0]), context.version);
    const filter = await filterOf(context, args);
    await write(context.stdout, exporter.head);
    let records = 0;
    const reader = new RecordReader();
    for await (const logged of readAuditLog(await logDir(context, args), filter, reader)) {
      await write(context.stdout, exporter.write(logged));
      records += 1;
    }
    await reportUnreadable(context, reader.unreadable);
    return records;
  },
  view: () => ({ kind: 'raw', text: '' }),
  bare: () => '',
});

export const auditCommands: readonly Command[] = [verify, search, exportLog, head];

async function logDir({ paths }: CliContext, args: ParsedArgs): Promise<string> {
  const log = args.text('of');
  return log === undefined ? paths.auditDir : otherLogDir(paths.otherAuditDir, log);
}

async function filterOf(context: CliContext, args: ParsedArgs): Promise<AuditFilter> {
  const { tool, session, door } = { tool: args.text('tool'), session: args.text('session'), door: args.text('door') };
  const since = args.text('since');
  const until = args.text('until');
  const project = await projectOption(context, args);
  return {
    ...(since === undefined ? {} : { sinceMs: timeOf(since) }),
    ...(until === undefined ? {} : { untilMs: timeOf(until) }),
    ...(tool === undefined ? {} : { tool }),
    ...(session === undefined ? {} : { session }),
    ...(door === undefined ? {} : { door }),
    ...(project === '' ? {} : { project }),
    isFailed: args.flag('failed'),
  };
}

/** So long ago, or a date. */
function timeOf(text: string): number {
  const ago = durationMs(text);
  const at = ago === null ? Date.parse(text) : Date.now() - ago;
  if (!Number.isNaN(at)) return at;
  throw new ContextdError('ARGS_INVALID', `${JSON.stringify(text)} is neither a time span nor a date`, {
    remedy: 'Write it as 30m, 12h, 7d, 2026-01-31 or 2026-01-31T12:00:00Z.',
  });
}

function formatOf(text: string): ExportFormat {
  const format = EXPORT_FORMATS.find((one) => one === text);
  if (format !== undefined) return format;
  throw new ContextdError('ARGS_INVALID', `there is no format ${JSON.stringify(text)}`, {
    remedy: `Use one of ${EXPORT_FORMATS.join(', ')}.`,
  });
}

function asJson(record: object): JsonObject {
  return JSON.parse(JSON.stringify(record));
}
