import { flag, optional, section, whole } from './schema-parts.ts';
import { SERVER_URL } from './server-url.ts';

export const AUDIT_SCHEMA = section('The audit log (docs/audit.md).', {
  durable: flag(
    true,
    'Answer a call only after its record is on the disk. false: a loss of power may take the newest records.',
  ),
  keep_days: whole(0, 0, 36_500, 'UTC days of which records are kept, including today. 0: all.'),
  ship: section('Where the daemon sends heads of the log, so that they prove it against who has the key.', {
    minutes: whole(15, 1, 1_440, 'Minutes after which a new head is sent, if there are new records.'),
    otlp_url: optional(
      SERVER_URL,
      'The address for logs of an OpenTelemetry collector, such as https://collector.example.com/v1/logs; http only on this machine.',
    ),
    otlp_token_file: optional(
      '^/[^\\0]+$',
      'The file that holds nothing but the bearer token of the collector. null: it asks for none.',
    ),
    s3_bucket: optional(
      '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
      'A bucket of S3, or of a server that is compatible with it.',
    ),
    s3_endpoint: optional(
      SERVER_URL,
      'The address of a compatible server, such as https://s3.example.com; http only on this machine. null: AWS.',
    ),
    s3_region: {
      type: 'string',
      default: 'us-east-1',
      pattern: '^[a-z0-9-]{1,64}$',
      description: 'The region of the bucket.',
    },
    s3_prefix: {
      type: 'string',
      default: 'contextd/',
      pattern: "^[A-Za-z0-9!_.*'()/-]{0,200}$",
      description: 'Put before the names of objects, which then have the name of the machine.',
    },
    s3_profile: optional(
      '^[\\x21-\\x7e]{1,200}$',
      'The profile in ~/.aws that has the access key. null: the default one, or the role of the machine.',
    ),
  }),
});
