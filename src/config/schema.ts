import { TIMEOUT_DEFAULT_MS, TIMEOUT_LONGEST_MS, TIMEOUT_MAX_MS } from '../core/limits.ts';
import { AUDIT_SCHEMA } from './audit-schema.ts';
import { BUDGET_SCHEMA } from './budget-schema.ts';
import { GATEWAY_SCHEMA } from './gateway-schema.ts';
import { LOG_SCHEMA } from './log-schema.ts';
import { MEMORY_SCHEMA } from './memory-schema.ts';
import { NETWORK_SCHEMA } from './network-schema.ts';
import { SANDBOX_SCHEMA } from './sandbox-schema.ts';
import { type Described, flag, names, optional, section, whole } from './schema-parts.ts';
import { TELEMETRY_SCHEMA } from './telemetry-schema.ts';

const MIB = 1024 * 1024;
const OWN_TIMEOUT_MS = { type: 'integer', minimum: 1, maximum: TIMEOUT_MAX_MS } as const;

/** Published as docs/config.schema.json; a test compares the two. Closed, so that a typo is a fault and not ignored. */
export const CONFIG_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'contextd configuration',
  description: 'config.json in the configuration directory. Every setting is optional.',
  type: 'object',
  additionalProperties: false,
  properties: {
    $schema: { type: 'string', description: 'For editors. Has no effect.' },
    budget: BUDGET_SCHEMA,
    densify: section('What is removed from a text, without loss of meaning, before it is cut.', {
      ansi: flag(true, 'Remove colours and styles.'),
      progress: flag(true, 'Reduce a line that overwrites itself, such as a progress bar, to its final text.'),
      repeats: flag(true, 'Fold repeated lines into one line and their number.'),
      json: flag(true, 'Print JSON without blanks between its parts.'),
      trailing_spaces: flag(true, 'Remove blanks at the ends of lines.'),
    }),
    timeout: section('How long a call may take.', {
      default_ms: whole(
        TIMEOUT_DEFAULT_MS,
        1,
        TIMEOUT_MAX_MS,
        'Milliseconds if the call asks for no timeout. A tool may have more.',
      ),
      max_ms: whole(
        TIMEOUT_LONGEST_MS,
        1,
        TIMEOUT_MAX_MS,
        'The maximum milliseconds that a call may ask for. A tool may have more.',
      ),
      tools: {
        type: 'object',
        default: {},
        description: 'Timeouts for individual tools, by name, instead of both settings above and those of the tool.',
        additionalProperties: false,
        patternProperties: {
          '^[a-z][a-z0-9_]{0,63}$': {
            type: 'object',
            additionalProperties: false,
            properties: { default_ms: OWN_TIMEOUT_MS, max_ms: OWN_TIMEOUT_MS },
          },
        },
      },
    }),
    output: section('How much of an output is kept.', {
      max_bytes: whole(64 * MIB, 65_536, 64 * MIB, 'Bytes of each stream. Of a longer stream, head and tail are kept.'),
      kill_bytes: whole(
        64 * 1024 * MIB,
        0,
        Number.MAX_SAFE_INTEGER,
        'Bytes that a command may print on both streams together. A command that prints more is killed. 0: no limit.',
      ),
    }),
    artifacts: section('How long complete outputs are kept.', {
      max_age_days: whole(7, 1, 3650, 'Days after which an artifact is removed.'),
      max_bytes: whole(
        1024 * MIB,
        MIB,
        1024 * 1024 * MIB,
        'Bytes of all artifacts. The least recently used are removed first.',
      ),
    }),
    sandbox: SANDBOX_SCHEMA,
    network: NETWORK_SCHEMA,
    install: section('Tools of other people.', {
      yes_grants: names(
        '^[a-z][^\\s]*$',
        ['scrub', 'log'],
        'Grants that --yes gives without asking a person. A * at the end stands for any rest, as in network:*.',
        200,
      ),
      require_signature: flag(false, 'Refuse tools that nobody in trusted_keys signed.'),
      trusted_keys: names(
        '^\\S+$',
        [],
        'Who may sign tools: public keys of minisign, and identities of sigstore as sigstore:ISSUER|IDENTITY.',
        100,
      ),
      sigstore_root: optional(
        '^/[^\\0]+$',
        'The file trusted_root.json of another instance of sigstore than the public one.',
      ),
    }),
    tools: section('Tools of other authors.', {
      env: {
        type: 'object',
        default: {},
        description:
          'Variables for the tools that ask for them and to which a project granted them, such as an address or a key.',
        additionalProperties: false,
        patternProperties: { '^[A-Za-z_][A-Za-z0-9_]{0,127}$': { type: 'string', maxLength: 65_536 } },
      },
    }),
    memory: MEMORY_SCHEMA,
    session: section('What is kept of sessions.', {
      log_max_age_days: whole(30, 1, 3650, 'Days after which an event of a session is removed.'),
      log_max_events: whole(
        200_000,
        1_000,
        10_000_000,
        'Events of all sessions. The oldest of the sessions that have most are removed first.',
      ),
    }),
    gateway: GATEWAY_SCHEMA,
    undo: section('What is kept of changed files, so that `ctxd undo` can take changes back.', {
      enabled: flag(true, 'Keep what calls change in the files of projects.'),
      max_mb: whole(2_048, 16, 1_048_576, 'Mebibytes for one project. Beyond it the oldest changes cannot be undone.'),
      max_age_days: whole(14, 1, 3_650, 'Days after which a change cannot be undone.'),
    }),
    jobs: section('Background jobs.', {
      per_session: whole(8, 0, 1_000, 'Jobs of one session that run at the same time. 0: none.'),
      total: whole(32, 0, 10_000, 'Jobs of all sessions that run at the same time. 0: none.'),
      lease_minutes: whole(
        30,
        1,
        1_440,
        'Minutes after which a job is stopped that nobody has listed, shown, waited for or sent input.',
      ),
      output_max_bytes: whole(
        16 * MIB,
        1_024,
        64 * MIB,
        'Bytes kept of the output of one job. Beyond it the first and the last half are kept.',
      ),
    }),
    scrub: section('The search for secrets. An answer that is not searched by the deadline is withheld.', {
      seeds: {
        type: 'boolean',
        default: true,
        description: 'Mask the values in credential files, .env files and environment variables from the start.',
      },
      deadline_base_ms: whole(
        5_000,
        100,
        300_000,
        'Milliseconds of processor time for any text; a new thread has 3,000 more.',
      ),
      deadline_per_kb_ms: {
        type: 'number',
        default: 1,
        minimum: 0,
        maximum: 1000,
        description: 'Additional milliseconds per KiB of text.',
      },
      gitleaks: {
        enum: ['small', 'always', 'background', 'off'],
        default: 'small',
        description:
          'When the gitleaks program, if installed, searches outputs too: before answers of up to 64 KiB and after longer ones, before each answer, after each answer, or never.',
      },
    }),
    secrets: section('Where the token of a secret may be replaced by its value.', {
      programs: names(
        '^[A-Za-z0-9][A-Za-z0-9_.+-]*$',
        [],
        'Bare names of programs to which safe_bash may pass a secret in a variable. Empty: none.',
        100,
      ),
      max_uses_per_hour: whole(60, 0, 1_000_000, 'Calls within an hour that may open the same secret. 0: none.'),
    }),
    approvals: section('Calls about which a rule of a person asks (`ctxd approve`).', {
      wait_ms: whole(90_000, 0, 86_400_000, 'Milliseconds that a call waits for a person. 0: it is refused at once.'),
      client_rules: flag(
        true,
        'Apply the rules of Claude Code and OpenCode for commands to the commands inside a command (docs/rules.md).',
      ),
    }),
    audit: AUDIT_SCHEMA,
    telemetry: TELEMETRY_SCHEMA,
    log: LOG_SCHEMA,
    http: section('The HTTP API (docs/http.md).', {
      enabled: flag(false, 'Listen for HTTP requests. `ctxd http on` sets it and restarts the daemon.'),
      host: {
        type: 'string',
        default: '127.0.0.1',
        pattern: '^[0-9a-fA-F.:]{2,45}$',
        description: 'The address to listen at. One that other machines reach needs a certificate and a key.',
      },
      port: {
        type: ['integer', 'null'],
        default: null,
        minimum: 1,
        maximum: 65_535,
        description: 'The port to listen at. null: a free port, chosen at the first start and kept.',
      },
      tls_certificate: optional('^/[^\\0]+$', 'The file of a certificate and its chain, as PEM. null: no TLS.'),
      tls_key: optional('^/[^\\0]+$', 'The file of the private key of the certificate, as PEM.'),
      max_connections: whole(256, 8, 10_000, 'Connections at the same time. One more closes the oldest idle one.'),
    }),
    server: section('The daemon.', {
      drain_ms: whole(5_000, 0, 300_000, 'Milliseconds that calls in flight get when the daemon stops. 0: none.'),
      max_concurrent_calls: whole(64, 1, 4096, 'Calls that run at the same time. Further calls wait.'),
      max_caller_calls: whole(56, 1, 4096, 'The same for one client in one project, in however many sessions.'),
      max_session_calls: whole(48, 1, 4096, 'The same for the calls of one session, so that others have room.'),
    }),
  },
} as const;

/** The settings of a person for this machine. Their names hold the units. */
export type Config = Omit<Described<typeof CONFIG_SCHEMA>, '$schema'>;

/** When the gitleaks program searches outputs a second time. */
export type GitleaksUse = Config['scrub']['gitleaks'];

/** Rules between settings that JSON Schema cannot express: [a, b] means that a is at most b. */
export const CONFIG_ORDER = [
  ['/budget/default_tokens', '/budget/max_tokens'],
  ['/timeout/default_ms', '/timeout/max_ms'],
] as const;
