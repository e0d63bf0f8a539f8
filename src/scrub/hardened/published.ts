import { hash } from 'node:crypto';

/**
 * Values that standards and vendors print as examples: they are in every document and in the tests of every library, and open
 * nothing. The SHA-256 of each, so that nothing here looks like a secret, and where it is published.
 */
const PUBLISHED: readonly [sha256: string, source: string][] = [
  [
    '50472e80ad3c9d9e788b4f7a289983a981a9bc9d173a17e9cd671db1e89f7bf2',
    'RFC 7617 section 2, the user and the password: in small letters, without blanks and signs',
  ],
  ['cf4d418ed3de92d71f767db5391d5a2dacd40e1ce49e75d1137e2ecf4982d844', 'RFC 7617 section 2, RFC 2617 section 2'],
  ['73f71af093fdf1541b2c376f03436d71d1209d8a181f87d36e53a44b87ac4c4f', 'MDN, Authorization'],
  ['687da00b09c83361bf3a2853b3a0c7d63ca5da870c8d3cdc20905c7aa546840a', 'RFC 7617 section 2.1'],
  ['b8e148545b13c78bc74da2f1a7275dd71e56ddece129d7d2f7b3ecc06f7994da', 'RFC 6750 section 2'],
  ['6c96130f130ab0d6d158397e24d2bcc1c9a5e73ae081f6e983f1c7b545d24a4c', 'RFC 6749 section 4'],
  ['00cf4c781dc37003f7c7dd7d4c9a6ef1e0f4c62d9a291aa8bc398774e3fefd32', 'RFC 6749 section 4'],
  ['ca7459e2b26776de081b9a07e40227fd6cff232a1e3233ff6b6aa6d036ca9981', 'RFC 6749 section 2.3.1'],
  ['53f5da0aaa93d64cd5772c554cbf940f0539e689dddbeb8f923eec3f72c02ea9', 'RFC 6749 section 2.3.1'],
  ['e9974c507d2a802143f614c878fcbb622a3800e05e6e0d329fee2c5b6b243329', 'RFC 6749 section 2.3.1'],
  ['a35b81a7d7927b70ec99270dd2362b88580a28574af812f2c02f56469579186f', 'RFC 6749 section 4.1'],
  ['13d31e961a1ad8ec2f16b10c4c982e0876a878ad6df144566ee1894acb70f9c3', 'RFC 7636 appendix B'],
  ['0d299b1eb548708d04534e7e050c427b56edfa15d13637a3484bdd61babf8384', 'RFC 7636 appendix B'],
  ['15cef4b629cc2d07a4563df9516739d4c8d6097eb283e5260fd59299a3c99c56', 'RFC 6455 section 1.3'],
  ['507e2ce3c522082b61100d566ac9cea86168493b56387c368e6ef01f5c539fdc', 'RFC 6455 section 1.3'],
  ['7f75367e7881255134e1375e723d1dea8ad5f6a4fdb79d938df1f1754a830606', 'jwt.io'],
  ['c794fa6d20c64efb9adf980ae93af472a1679775862d421ffe55d4a57fad5b3e', 'jwt.io'],
  ['da816f9f2c16e6c5390e7636cadc40c43551bf0bbcf8f36c65539e6633a9c5e8', 'jwt.io'],
  ['8d4ef6536dc8895f256c1e0d95dcd19763036732d64a095e44a90ed444267ad3', 'RFC 7519 section 3.1'],
  ['8b1b17a9740c068accab5c3d0d652c8e3cc13206e70bb73b42ea41d4c2de3c12', 'RFC 7515 appendix A.1'],
  [
    '0011cc25eb4320717494d2703e8cba85743e71b500283c21c8b88147992f9059',
    'Microsoft, Azurite: well-known storage account and key',
  ],
  [
    'aa6547439583c3a275d4542a0df6c1ad6a863971be9f2a2220f027cc02aef615',
    'Microsoft, Azure Cosmos DB emulator: authentication',
  ],
  ['2cafc0970149a84f3b9e62eaf169f36f59907a3b3e31f7b82e68c69cd27f7326', 'Stripe, API reference'],
  ['f2d6ca16515033e5dce14eba840b979d27b5cbae24bb3e5bf484339667f86397', 'Stripe, API reference'],
  ['78314b11be2e581549ac1c4f616563fad3fdf0c3b71678f6e2299182080e0598', 'AWS, documentation of IAM'],
  [
    '8be5d113c0871ce1a122d68a7dff940ab7b09ad8dfcfd9a85aa5c1acc026279e',
    'Google Authenticator, wiki on the key URI format',
  ],
  ['549c9390539efcfa01d2744e82e7da34409a63dd0feaf310f7a6e12551fe7668', 'RFC 6238 appendix B, in base32'],
];

const HASHES: ReadonlySet<string> = new Set(PUBLISHED.map(([hash]) => hash));
/** Characters of the shortest and the longest of them. */
const MIN_CHARS = 10;
const MAX_CHARS = 179;

/** Whether a value is a published example. */
export function isPublishedExample(value: string): boolean {
  if (value.length < MIN_CHARS || value.length > MAX_CHARS) return false;
  return HASHES.has(sha256(value)) || (value.includes(':') && HASHES.has(sha256(barePair(value))));
}

/** A user and a password, however a document writes them. */
function barePair(value: string): string {
  return value.toLowerCase().replace(/[^a-z0-9:]/g, '');
}

function sha256(value: string): string {
  return hash('sha256', value);
}
