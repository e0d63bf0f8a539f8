import { SANDBOX_MEMORY_DEFAULT_MB, SANDBOX_PIDS_DEFAULT } from '../core/limits.ts';
import { names, section, whole } from './schema-parts.ts';

export const SANDBOX_SCHEMA = section('What a tool may see and use.', {
  ro_paths: {
    type: 'array',
    items: { type: 'string', pattern: '^/[^\\0]*[^/\\0]$' },
    uniqueItems: true,
    default: [],
    description: 'Absolute directories outside /usr that tools can read, such as the toolchain in ~/.nvm.',
  },
  etc: names(
    '^(?!\\.{1,2}(/|$))[^/\\0]+(/(?!\\.{1,2}(/|$))[^/\\0]+)*$',
    [],
    'Names in /etc, such as pip.conf, that tools can read besides what packages ship unchanged. Only files that everybody may read.',
    100,
  ),
  deny: names(
    '^(?!/)(?!(.*/)?\\.\\.(/|$))[^\\0]+$',
    [],
    'Globs relative to a project, such as **/*.pem. Tools cannot see the files that match.',
    100,
  ),
  min_isolation: {
    enum: ['full', 'reduced'],
    default: 'reduced',
    description: 'The least isolation with which a tool runs. With less, the call is refused.',
  },
  memory_mb: whole(SANDBOX_MEMORY_DEFAULT_MB, 64, 1_048_576, 'Mebibytes of memory for one sandbox.'),
  pids: whole(SANDBOX_PIDS_DEFAULT, 16, 32_768, 'Processes and threads in one sandbox.'),
  cpus: {
    type: ['number', 'null'],
    default: null,
    minimum: 0,
    maximum: 4096,
    description:
      'Processors for one sandbox; fractions are allowed. null: all but one (three quarters of one to three). 0: no limit.',
  },
  total_memory_mb: whole(
    0,
    0,
    16_777_216,
    'Mebibytes of memory for all sandboxes together. 0: three quarters of the machine.',
  ),
  total_pids: whole(8_192, 64, 4_194_304, 'Processes and threads in all sandboxes together.'),
  preforked: whole(2, 0, 16, 'Sandboxes kept ready for each project. 0: none.'),
  cache_max_mb: whole(
    10_240,
    16,
    16_777_216,
    'Mebibytes that the caches of one project (~/.cache, ~/.npm, ~/go and others) may keep. The oldest are dropped.',
  ),
  cache_max_age_days: whole(30, 1, 3650, 'Days after which the caches of a project that nothing used are removed.'),
  file_max_mb: whole(1024, 1, 16_777_216, 'Mebibytes of the largest file that a command or tool can write.'),
  session_max_mb: whole(4096, 16, 16_777_216, 'Mebibytes for HOME and /tmp of one session together.'),
  idle_ms: whole(
    180_000,
    100,
    86_400_000,
    'Milliseconds without a call after which the processes and the loopback of a project are given back.',
  ),
});
