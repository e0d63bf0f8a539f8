/** The program of the thread that owns one database. `createDatabase` starts it; nothing imports it. */
import { parentPort } from 'node:worker_threads';
import { serveDatabase } from '../serve-database.ts';

if (parentPort) serveDatabase(parentPort);
