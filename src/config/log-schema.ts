import { section, whole } from './schema-parts.ts';

export const LOG_SCHEMA = section('The log of the daemon.', {
  level: {
    enum: ['debug', 'info', 'warn', 'error'],
    default: 'info',
    description: 'The lowest level that is written.',
  },
  max_mb: whole(8, 1, 4_096, 'MiB at which the log file is closed and a new one begins.'),
  kept_files: whole(1, 0, 100, 'Older log files that are kept, as daemon.log.1 and so on. 0: none.'),
});
