import { describe, expect, it } from 'vitest';
import { type BucketVariables, readBucketAddress } from '#src/storage/bucket-address.ts';

const KEY = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret-of-it' };
const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret-of-it' };

describe('the address of a bucket', () => {
  it.each<[string, BucketVariables, object]>([
    [
      's3://my-clips/team/dailies',
      { ...KEY, AWS_REGION: 'eu-west-1' },
      { bucket: 'my-clips', prefix: 'team/dailies/', region: 'eu-west-1', credentials },
    ],
    ['s3://my-clips', { AWS_DEFAULT_REGION: 'eu-west-1' }, { bucket: 'my-clips', prefix: '', region: 'eu-west-1' }],
    [
      's3://my-clips/a/',
      { AWS_REGION: 'x', AWS_DEFAULT_REGION: 'y' },
      { bucket: 'my-clips', prefix: 'a/', region: 'x' },
    ],
    [
      's3://my-clips?endpoint=http://minio:9000/&region=garage&public_endpoint=https://s3.example.com',
      { ...KEY, AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL: 'https://other.example' },
      {
        bucket: 'my-clips',
        prefix: '',
        region: 'garage',
        endpoint: 'http://minio:9000',
        publicEndpoint: 'https://s3.example.com',
        credentials,
      },
    ],
    [
      's3://my-clips?endpoint=http://[::1]:9000',
      {},
      { bucket: 'my-clips', prefix: '', region: 'us-east-1', endpoint: 'http://[::1]:9000' },
    ],
    [
      's3://my-clips',
      { AWS_ENDPOINT_URL: 'https://all.example', AWS_ENDPOINT_URL_S3: 'https://s3.example:8443' },
      { bucket: 'my-clips', prefix: '', region: 'us-east-1', endpoint: 'https://s3.example:8443' },
    ],
    [
      's3://my-clips',
      { ...KEY, AWS_SESSION_TOKEN: 'token', AWS_REGION: 'x' },
      { bucket: 'my-clips', prefix: '', region: 'x', credentials: { ...credentials, sessionToken: 'token' } },
    ],
    [
      's3://my-clips?endpoint=http://127.0.0.1:9000',
      { ...KEY, AWS_SESSION_TOKEN: 'token' },
      {
        bucket: 'my-clips',
        prefix: '',
        region: 'us-east-1',
        endpoint: 'http://127.0.0.1:9000',
        credentials: { ...credentials, sessionToken: 'token' },
      },
    ],
  ])('%s %j', (url, env, address) => {
    expect(readBucketAddress(url, env)).toEqual({ address, problems: [] });
  });

  it.each<[string, BucketVariables, string]>([
    ['my-clips', {}, 'MEDIA_URL: it takes s3://BUCKET/PREFIX'],
    ['https://my-clips.s3.amazonaws.com', {}, 'MEDIA_URL: it takes s3://BUCKET/PREFIX'],
    ['s3://My_Clips', { AWS_REGION: 'x' }, 'the name of an S3 bucket'],
    ['s3:///prefix', { AWS_REGION: 'x' }, 'the name of an S3 bucket'],
    ['s3://my-clips/a//b', { AWS_REGION: 'x' }, 'the prefix takes'],
    ['s3://my-clips/a%20b', { AWS_REGION: 'x' }, 'the prefix takes'],
    ['s3://AKID:hunter2@my-clips', { AWS_REGION: 'x' }, 'keys go into AWS_ACCESS_KEY_ID'],
    ['s3://my-clips?endpiont=https://s3.example', { AWS_REGION: 'x' }, 'it has no parameter endpiont'],
    ['s3://my-clips?endpoint=s3.example', {}, 'an http:// or https:// address'],
    ['s3://my-clips?endpoint=https://s3.example/path', {}, 'an http:// or https:// address'],
    ['s3://my-clips', { AWS_REGION: 'x', AWS_ENDPOINT_URL: 'ftp://s3.example' }, 'an http:// or https:// address'],
    ['s3://my-clips', {}, 'AWS_REGION: not set'],
    [
      's3://my-clips?endpoint=http://minio:9000',
      { ...KEY, AWS_SESSION_TOKEN: 't' },
      'AWS_SESSION_TOKEN would go in the clear',
    ],
    [
      's3://my-clips?endpoint=https://a.example&public_endpoint=http://b.example',
      { ...KEY, AWS_SESSION_TOKEN: 't' },
      'AWS_SESSION_TOKEN would go in the clear',
    ],
    ['s3://my-clips?endpoint=http://minio:9000', {}, 'without AWS_ACCESS_KEY_ID, the session token of a role would go'],
    [
      's3://my-clips?endpoint=https://a.example&public_endpoint=http://b.example',
      { AWS_REGION: 'x' },
      'without AWS_ACCESS_KEY_ID, the session token of a role would go in the clear',
    ],
    ['s3://my-clips', { AWS_REGION: 'x', AWS_ACCESS_KEY_ID: 'a' }, 'AWS_SECRET_ACCESS_KEY: not set'],
    ['s3://my-clips', { AWS_REGION: 'x', AWS_SECRET_ACCESS_KEY: 'hunter2' }, 'AWS_ACCESS_KEY_ID: not set'],
  ])('refuses %s %j', (url, env, reason) => {
    const { address, problems } = readBucketAddress(url, env);
    expect(address).toBeNull();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(reason);
    expect(problems[0]).not.toContain('hunter2');
  });
});
