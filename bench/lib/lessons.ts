/** Lessons and questions made for the benchmark: always the same, and of nobody. */

export interface Lesson {
  title: string;
  description: string;
  content: string;
}

/** A part of a project: how a lesson names it, and how somebody asks for it. */
const PLACES: readonly (readonly [string, string])[] = [
  ['the upload service in src/upload_service.ts', 'uploadService'],
  ['the function parseInvoiceHeader', 'parse_invoice_header'],
  ['the nightly billing job', 'billing at night'],
  ['the Postgres connection pool', 'pool of postgres connections'],
  ['the arm64 Docker image', 'docker on arm64'],
  ['the GraphQL gateway', 'graphql-gateway'],
  ['the React settings page', 'SettingsPage in react'],
  ['the Kafka consumer group', 'kafka consumers'],
  ['the iOS release pipeline', 'releasing for ios'],
  ['the full-text search index', 'indexing for search'],
  ['the OAuth callback handler', 'handle_oauth_callback'],
  ['the CSV export', 'exporting csv'],
  ['the terraform module for networks', 'network module, terraform'],
  ['the Redis cache of sessions', 'cached sessions in redis'],
  ['the e2e suite under test/e2e', 'end to end tests e2e'],
  ['the protobuf generator', 'generated protobuf code'],
  ['the webhook retry queue', 'retrying webhooks'],
  ['the feature flag client', 'featureFlags'],
  ['the image resizer', 'resizing images'],
  ['the audit log writer', 'AuditLogWriter'],
];

/** A problem: title, when it holds, what to do, and how somebody who has it asks. */
const PROBLEMS: readonly (readonly [string, string, string, string])[] = [
  ['Raise the timeout', 'If calls end after 30 seconds', 'Set requestTimeoutMs to 120000.', 'calls timing out'],
  [
    'Run migrations first',
    'After a rebase',
    'The schema is old: npm run migrate, then start.',
    'column does not exist',
  ],
  [
    'Pin the version',
    'When a minor release breaks it',
    'Write the exact version into the lock file.',
    'broke after upgrading',
  ],
  [
    'Close handles in teardown',
    'If tests hang at the end',
    'Await server.close() in afterAll.',
    'test process never exits',
  ],
  ['Use UTC everywhere', 'Where dates are compared', 'Convert at the edges with toISOString.', 'dates off by one hour'],
  ['Escape the separator', 'For values with commas', 'Quote each value and double the quotes.', 'commas split a value'],
  ['Add an index', 'For tables over a million rows', 'CREATE INDEX CONCURRENTLY on the foreign key.', 'query is slow'],
  ['Limit the batch size', 'When memory grows', 'Process 500 rows at a time.', 'out of memory while processing'],
  ['Retry with a key', 'If requests may be repeated', 'Send an Idempotency-Key header.', 'duplicates after retries'],
  [
    'Check the certificate chain',
    'Behind a company proxy',
    'Set NODE_EXTRA_CA_CERTS.',
    'unable to verify certificates',
  ],
  [
    'Clear the build cache',
    'When outputs are stale',
    'Delete node_modules/.cache and build again.',
    'old output after building',
  ],
  [
    'Do not mock the clock',
    'For time in the database',
    'A fake clock leaves the database alone.',
    'mocked clocks and database times differ',
  ],
  [
    'Lock before writing',
    'With several workers',
    'Take an advisory lock around the write.',
    'two workers overwrite each other',
  ],
  [
    'Read the whole stream',
    'For chunked bodies',
    'Concatenate chunks before decoding.',
    'broken characters between chunks',
  ],
  ['Give it more disk', 'When CI fails late', 'The runner has 14 GB; delete images first.', 'no space left on device'],
  ['Sort before comparing', 'For flaky snapshots', 'The order of keys is not defined.', 'flaky snapshot order'],
  [
    'Rotate the token',
    'Each 90 days',
    'A new token goes into the vault, the old one is revoked.',
    'token expired, 401',
  ],
  ['Use the read replica', 'For reports', 'Reports lock the primary.', 'reporting blocks the primary'],
  [
    'Validate at the edge',
    'For input of users',
    'Parse with the schema, then trust it.',
    'undefined deep inside from bad input',
  ],
  ['Turn off parallel runs', 'If ports collide', 'Run it with one worker.', 'EADDRINUSE, port taken'],
];

/** Every problem in every place: each lesson shares its words with 38 others. */
export function lessons(): { lesson: Lesson; question: string }[] {
  return PLACES.flatMap(([place, asked]) =>
    PROBLEMS.map(([title, when, action, complaint]) => ({
      lesson: {
        title: `${title} for ${place}`,
        description: `${when}.`,
        content: `${when}: ${action} Seen in ${place}.`,
      },
      question: `${complaint}: ${asked}`,
    })),
  );
}

/** Texts with the word frequencies of ordinary language (Zipf), for measuring time. */
export function fillers(count: number, random: () => number): Lesson[] {
  const words = (length: number): string => Array.from({ length }, () => fillerWord(random)).join(' ');
  return Array.from({ length: count }, () => ({ title: words(6), description: words(12), content: words(40) }));
}

export function fillerQuery(random: () => number): string {
  return Array.from({ length: 6 }, () => fillerWord(random)).join(' ');
}

const VOCABULARY = 30_000;
/** The most frequent words of a language are stop words: they are no part of the texts. */
const SKIPPED = 50;

/** The inverse of a Zipf distribution with exponent 1, by its continuous form. */
function fillerWord(random: () => number): string {
  const place = Math.floor(SKIPPED * (VOCABULARY / SKIPPED) ** random());
  return `w${place.toString(36)}`;
}
