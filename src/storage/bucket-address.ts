import { isLoopbackHost } from '../videos/index.ts';

/** Key of an S3 account. Absent in {@link BucketAddress}: the client looks for a role of this machine. */
interface BucketCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string;
}

/** An S3-compatible bucket, and the folder in it. */
export interface BucketAddress {
  readonly bucket: string;
  /** Beginning of every key: empty, or ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  /** Origin of a server other than AWS, which is addressed by path. Absent: AWS. */
  readonly endpoint?: string;
  /** Origin in signed links, where browsers reach the server elsewhere than the bot does. Absent: as `endpoint`. */
  readonly publicEndpoint?: string;
  readonly credentials?: BucketCredentials;
}

/** Variables that say where a bucket is, with the names that the tools of AWS give them. */
export type BucketVariables = Readonly<
  Partial<
    Record<
      | 'AWS_ACCESS_KEY_ID'
      | 'AWS_SECRET_ACCESS_KEY'
      | 'AWS_SESSION_TOKEN'
      | 'AWS_REGION'
      | 'AWS_DEFAULT_REGION'
      | 'AWS_ENDPOINT_URL_S3'
      | 'AWS_ENDPOINT_URL',
      string | undefined
    >
  >
>;

/** Result of {@link readBucketAddress}: `address` is `null` where there is a problem. */
interface BucketAddressRead {
  readonly address: BucketAddress | null;
  /** Sentences that begin with the name of a variable. They repeat no value. */
  readonly problems: readonly string[];
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Characters of a key that need no escaping in any tool. */
const PREFIX = /^[\w.-]+(\/[\w.-]+)*$/;
const REGION = /^[a-z0-9-]{1,50}$/i;
/** Servers other than AWS accept any region; most tools send this one. */
const ANY_REGION = 'us-east-1';
const PARAMETERS: ReadonlySet<string> = new Set(['endpoint', 'public_endpoint', 'region']);

/** Reads where the bucket is from `MEDIA_URL` (`s3://bucket/prefix?endpoint=…`) and the variables of AWS. */
export function readBucketAddress(mediaUrl: string, env: BucketVariables): BucketAddressRead {
  const url = URL.canParse(mediaUrl) ? new URL(mediaUrl) : null;
  if (url?.protocol !== 's3:') return { address: null, problems: ['MEDIA_URL: it takes s3://BUCKET/PREFIX'] };
  const query = url.searchParams;
  const endpoint = query.get('endpoint') ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
  const publicEndpoint = query.get('public_endpoint') ?? undefined;
  const region =
    query.get('region') ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? (endpoint === undefined ? '' : ANY_REGION);
  const prefix = url.pathname.replace(/^\/|\/$/g, '');
  const problems = [
    ...urlProblems(url, prefix),
    ...[endpoint, publicEndpoint].flatMap((origin) => (origin === undefined || isOrigin(origin) ? [] : [ENDPOINT])),
    ...(REGION.test(region)
      ? []
      : ['AWS_REGION: not set; MEDIA_URL needs the region of the bucket, such as eu-west-1']),
    ...keyProblems(env),
    ...([endpoint, publicEndpoint].some(isOpen) ? tokenProblems(env) : []),
  ];
  if (problems.length > 0) return { address: null, problems };
  const address = {
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region,
    ...(endpoint === undefined ? {} : { endpoint: new URL(endpoint).origin }),
    ...(publicEndpoint === undefined ? {} : { publicEndpoint: new URL(publicEndpoint).origin }),
    ...credentialsOf(env),
  };
  return { address, problems };
}

const ENDPOINT =
  'MEDIA_URL: the endpoint (there or in AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL) takes an http:// or https:// address without a path';

/** Returns why an endpoint whose connections are open to others takes no such key: the token of a temporary one. */
function tokenProblems({ AWS_SESSION_TOKEN: token, ...env }: BucketVariables): readonly string[] {
  const isRole = env.AWS_ACCESS_KEY_ID === undefined && env.AWS_SECRET_ACCESS_KEY === undefined;
  if (token === undefined && !isRole) return [];
  const whose = token === undefined ? 'without AWS_ACCESS_KEY_ID, the session token of a role' : 'AWS_SESSION_TOKEN';
  const why = `${whose} would go in the clear to an http:// endpoint`;
  return [`MEDIA_URL: ${why}; it takes https:// (http:// for loopback hosts alone)`];
}

function isOpen(origin: string | undefined): boolean {
  return origin?.startsWith('http:') === true && URL.canParse(origin) && !isLoopbackHost(new URL(origin).hostname);
}

function urlProblems({ hostname, username, password, hash, searchParams }: URL, prefix: string): readonly string[] {
  const unknown = [...searchParams.keys()].filter((name) => !PARAMETERS.has(name));
  return [
    ...(BUCKET.test(hostname) ? [] : ['MEDIA_URL: it takes s3://BUCKET/PREFIX with the name of an S3 bucket']),
    ...(prefix === '' || PREFIX.test(prefix)
      ? []
      : ['MEDIA_URL: the prefix takes letters, digits, “.”, “-” and “_”, and “/” between them']),
    ...(username === '' && password === '' && hash === ''
      ? []
      : ['MEDIA_URL: keys go into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not into the address']),
    ...unknown.map((name) => `MEDIA_URL: it has no parameter ${name}; it takes ${[...PARAMETERS].join(', ')}`),
  ];
}

function keyProblems(env: BucketVariables): readonly string[] {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = env;
  if ((id === undefined) === (secret === undefined)) return [];
  const missing = id === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY';
  return [`${missing}: not set; the id and the secret of a key belong together`];
}

function credentialsOf(env: BucketVariables): Pick<BucketAddress, 'credentials'> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  return { credentials: { accessKeyId, secretAccessKey, ...(token === undefined ? {} : { sessionToken: token }) } };
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && search === '' && hash === '' && username === '';
}
