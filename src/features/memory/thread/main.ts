/** The program of the thread that owns the memory database. `memoryDatabase` starts it; nothing imports it. */
import { parentPort } from 'node:worker_threads';
import { serveDatabase } from '../../../stores/serve-database.ts';
import { addVectorFunctions } from '../dense/vector-functions.ts';

if (parentPort) serveDatabase(parentPort, addVectorFunctions);
