export { RedisConnection } from './connection.ts';
export type { RedisInfo } from './info.ts';
export { type ReplicaState, restoreRequirement, waiveReplica } from './replicas.ts';
export type { RedisSettings } from './settings.ts';
