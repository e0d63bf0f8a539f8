import { names, optional, section, whole } from './schema-parts.ts';

export const NETWORK_SCHEMA = section(
  '`ctxd network list` shows what programs may reach; these settings hold for the machine.',
  {
    default: {
      enum: ['on', 'off'],
      default: 'on',
      description:
        'on: names that a person allowed can be reached. off: no network at all, unless a project has it on.',
    },
    upload_max_mb: whole(
      0,
      0,
      16_777_216,
      'Mebibytes that one project may send to one host between two starts of the daemon. 0: no limit.',
    ),
    upstream_proxy: optional(
      '^http://[^\\s/]+/?$',
      'The proxy of this machine, such as http://proxy.example.com:3128. null: hosts are reached directly.',
    ),
    upstream_no_proxy: names('^\\S+$', [], 'Hosts and *.suffixes that are reached without upstream_proxy.', 200),
    log_max_age_days: whole(30, 1, 3650, 'Days after which an entry of `ctxd network log` is removed.'),
    log_max_rows: whole(
      50_000,
      100,
      5_000_000,
      'Entries of `ctxd network log`. The oldest of the projects that have most are removed first.',
    ),
  },
);
