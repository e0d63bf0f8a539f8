import { createHash } from 'node:crypto';
import { ALNUM, B64, generate, HEX, URL64, UUID } from '../sample-patterns.ts';
import { type Kind, kebab, one, strong, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');

/** Tokens of vendors, in the form that their documentation or their own scanners' patterns give. */
const VENDOR_TOKENS: Readonly<Record<string, string>> = {
  'Anthropic admin key': `sk-ant-admin01-${URL64}{93}AA`,
  'Cloudflare API token of 2025': `cfut_${ALNUM}{40}[0-9a-f]{8}`,
  'Cloudflare account token': `cfat_${ALNUM}{40}[0-9a-f]{8}`,
  'Cloudflare global key': `cfk_${ALNUM}{40}[0-9a-f]{8}`,
  'Databricks token': `dapi${HEX}{32}`,
  'DigitalOcean token': `dop_v1_${HEX}{64}`,
  'GitLab runner token': `glrt-${URL64}{20}`,
  'GitLab deploy token': `gldt-${URL64}{20}`,
  'Google Gemini key of AI Studio': `AQ.Ab8RN6${URL64}{44}`,
  'Grafana service account token': `glsa_${ALNUM}{32}_[0-9a-f]{8}`,
  'Grafana cloud token': `glc_eyJ${ALNUM}{100}=`,
  'HashiCorp Terraform token': `${ALNUM}{14}.atlasv1.${URL64}{67}`,
  'JFrog reference token': `cmVmdGtuO${ALNUM}{55}`,
  'JFrog API key': `AKCp${ALNUM}{69}`,
  'Linear key': `lin_api_${ALNUM}{40}`,
  'Mistral does not mark; Perplexity key': `pplx-${ALNUM}{48}`,
  'npm token': `npm_${ALNUM}{36}`,
  'NuGet key': 'oy2[a-z0-9]{43}',
  'PlanetScale password': `pscale_pw_${URL64}{43}`,
  'PlanetScale token': `pscale_tkn_${URL64}{43}`,
  'Polar token': `polar_oat_${ALNUM}{43}`,
  'PostHog personal key': `phx_${ALNUM}{43}`,
  'Pulumi token': `pul-${HEX}{40}`,
  'RubyGems key': `rubygems_${HEX}{48}`,
  'Scalingo token': `tk-us-${URL64}{48}`,
  'SendGrid key': `SG.${URL64}{22}.${URL64}{43}`,
  'Slack app token': 'xapp-1-A[A-Z0-9]{10}-[0-9]{13}-[0-9a-f]{64}',
  'Stripe restricted key': `rk_live_${ALNUM}{24}`,
  'Supabase secret key': `sb_secret_${URL64}{31}`,
  'Tailscale auth key': `tskey-auth-k${ALNUM}{16}CNTRL-${ALNUM}{32}`,
  'Turso does not mark; Upstash QStash signing key': `sig_${ALNUM}{28}`,
  'WakaTime key': `waka_${UUID}`,
  'xAI key': `xai-${ALNUM}{80}`,
  'Buildkite agent token': `bkct_${ALNUM}{40}`,
  'Harness token': `pat.${ALNUM}{22}.${HEX}{24}.${ALNUM}{20}`,
  'Contentful personal token': `CFPAT-${URL64}{43}`,
  'Prefect key': `pnu_${ALNUM}{36}`,
  'Readme key': `rdme_[a-z0-9]{70}`,
  'Sourcegraph token': `sgp_${HEX}{16}_${HEX}{40}`,
  'Doppler service token': `dp.st.prd.${ALNUM}{43}`,
  'Infracost key': `ico-${ALNUM}{32}`,
  'Intra42 secret': `s-s4t2ud-${HEX}{64}`,
  'Frame.io token': `fio-u-${URL64}{64}`,
  'EasyPost key': `EZAK${ALNUM}{54}`,
  'Duffel token': `duffel_live_${URL64}{43}`,
  'Dynatrace token': 'dt0c01.[A-Z0-9]{24}.[A-Z0-9]{64}',
  'Shippo token': `shippo_live_${HEX}{40}`,
  'Snyk service token': `snyk_uat.${ALNUM}{8}.eyJ${URL64}{60}.${URL64}{40}`,
  'Val Town token': `vtwn_${ALNUM}{30}`,
  'Vercel token of 2025': `vcp_${ALNUM}{56}`,
  'Railway does not mark; Koyeb does not; Fly token': `fm2_${B64}{80}`,
  'LangSmith key': `lsv2_pt_${HEX}{32}_${HEX}{10}`,
  'Mem0 key': `m0-${ALNUM}{40}`,
  'Firecrawl key': `fc-${HEX}{32}`,
  'Exa does not mark; Browserbase key': `bb_live_${URL64}{27}`,
  'Unkey root key': `unkey_3Z${ALNUM}{20}`,
  'Trigger.dev key': `tr_prod_${ALNUM}{20}`,
  'Docker organization token': `dckr_oat_${URL64}{32}`,
  'Bitwarden access token': `0.${UUID}.${ALNUM}{30}:${B64}{22}==`,
};

/** Outputs and files of programs that hold a secret without its name right beside it. */
const PROGRAMS: Kind['makers'] = {
  'aws configure list': (random) => ({
    texts: [
      `      Name                    Value             Type    Location\n      ----                    -----             ----    --------\n   profile                <not set>             None    None\naccess_key     ****************${generate('[A-Z2-7]{4}', random)} shared-credentials-file    \nsecret_key     ****************${generate('[A-Za-z0-9]{4}', random)} shared-credentials-file    \n    region                eu-west-1      config-file    ~/.aws/config\n`,
    ],
  }),
  'aws configure': (random) => ({
    texts: [
      `$ aws configure\nAWS Access Key ID [None]: «AK${'IA'}${generate('[A-Z2-7]{16}', random)}»\nAWS Secret Access Key [None]: «${generate('[A-Za-z0-9/+]{40}', random)}»\nDefault region name [None]: eu-west-1\nDefault output format [None]: json\n`,
    ],
  }),
  'aws configure get': (random) => ({
    texts: [`$ aws configure get aws_secret_access_key\n«${generate('[A-Za-z0-9/+]{39}[A-Za-z0-9]{1}', random)}»\n`],
  }),
  'cypher-shell': (random) => ({
    texts: [
      `cypher-shell -a neo4j://db:7687 -u neo4j -p «${one([quiet, (r: Random) => `${word(r)}${generate('[0-9]{4}', r)}`], random)(random)}» 'RETURN 1'\n`,
    ],
  }),
  'short options of clients': (random) => ({
    texts: [
      one(
        [
          (v: string) => `mongosh --host db -u ${word(random)} -p ${v} --authenticationDatabase admin\n`,
          (v: string) => `sqlcmd -S tcp:db -U sa -P ${v} -Q "SELECT 1"\n`,
          (v: string) => `rabbitmqadmin -u ${word(random)} -p ${v} list queues\n`,
          (v: string) => `redis-cli -h cache -a ${v} ping\n`,
          (v: string) => `clickhouse-client --user ${word(random)} --password ${v}\n`,
          (v: string) => `docker login -u ${word(random)} -p ${v} registry.example.com\n`,
          (v: string) => `ldapsearch -x -D cn=${word(random)} -w ${v} -b dc=example\n`,
          (v: string) => `sshpass -p ${v} ssh ${word(random)}@host\n`,
          (v: string) => `cqlsh -u ${word(random)} -p ${v} node1\n`,
          (v: string) => `influx -username ${word(random)} -password ${v}\n`,
          (v: string) => `oc login -u ${word(random)} -p ${v} https://${kebab(random)}:6443\n`,
          (v: string) =>
            `az login --service-principal -u ${generate(UUID, random)} -p ${v} --tenant ${generate(UUID, random)}\n`,
          (v: string) => `smbclient //nas/share -U ${word(random)}%${v}\n`,
          (v: string) => `mosquitto_pub -h broker -u ${word(random)} -P ${v} -t x -m y\n`,
        ],
        random,
      )(`«${quiet(random)}»`),
    ],
  }),
  kubeadm: (random) => ({
    texts: [
      `kubeadm join 10.0.0.${1 + Math.floor(random() * 200)}:6443 --token «${generate('[a-z0-9]{6}.[a-z0-9]{16}', random)}» \\\n  --discovery-token-ca-cert-hash sha256:${generate(`${HEX}{64}`, random)} \\\n  --control-plane --certificate-key «${generate(`${HEX}{64}`, random)}»\n`,
    ],
  }),
  'state of Terraform': (random) => ({
    texts: [
      `    {\n      "mode": "managed",\n      "type": "random_password",\n      "name": "${word(random)}",\n      "provider": "provider[\\"registry.terraform.io/hashicorp/random\\"]",\n      "instances": [\n        {\n          "schema_version": 3,\n          "attributes": {\n            "bcrypt_hash": "«$2a$10$${generate('[A-Za-z0-9./]{53}', random)}»",\n            "id": "none",\n            "length": 24,\n            "result": "«${strong(random)}»",\n            "special": true\n          }\n        }\n      ]\n    },\n`,
    ],
  }),
  'the master key of Rails': (random) => ({
    texts: [
      one(
        [
          (v: string) => `$ cat config/master.key\n${v}\n`,
          (v: string) => `==> config/master.key <==\n${v}\n`,
          (v: string) => `config/credentials/production.key:${v}\n`,
        ],
        random,
      )(`«${generate(`${HEX}{32}`, random)}»`),
    ],
  }),
  'a wallet import format': (random) => ({
    texts: [
      one(
        [(v: string) => `importing ${v} into wallet\n`, (v: string) => `${v}\n`, (v: string) => `"wif": "${v}",\n`],
        random,
      )(`«${wif(random)}»`),
    ],
  }),
};

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** A private key of Bitcoin for import: its version, the key, whether it is compressed, and a checksum, in base58. */
function wif(random: Random): string {
  const key = Buffer.from(Array.from({ length: 32 }, () => Math.floor(random() * 256)));
  const body = Buffer.concat([Buffer.from([0x80]), key, ...(random() < 0.5 ? [Buffer.from([1])] : [])]);
  const bytes = Buffer.concat([body, sha256(sha256(body)).subarray(0, 4)]);
  let number = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; number > 0n; number /= 58n) text = (BASE58[Number(number % 58n)] ?? '') + text;
  return text;
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

const AROUND: readonly ((token: string, random: Random) => string)[] = [
  (t, r) => `${word(r)} ${t} ${word(r)}\n`,
  (t) => `{"value":"${t}"}\n`,
  (t, r) => `https://api.${word(r)}.example/${t}/status\n`,
  (t, r) => `${word(r)},${t},${word(r)}\n`,
  (t) => `${t}\n`,
];

export const missed: Kind = {
  name: 'what was missed',
  makers: {
    ...PROGRAMS,
    'tokens of vendors': (random) => ({
      texts: [one(AROUND, random)(`«${generate(one(Object.values(VENDOR_TOKENS), random), random)}»`, random)],
    }),
  },
};
