/** https, or http on this machine; no user, no query. */
export const SERVER_URL = '^(https://[^\\s/@?#]+|http://(127\\.0\\.0\\.1|localhost|\\[::1\\])(:[0-9]+)?)(/[^\\s?#]*)?$';
