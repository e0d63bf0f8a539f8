import { serve } from '@hono/node-server';
import { Hono } from 'hono';

/** The framework with one route and nothing behind it. Sends its parent its port. */
const app = new Hono();
app.post('/execute', async (c) => c.json({ success: true, data: await c.req.json() }));
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => process.send?.(port));
