export { RedisConnection } from './connection.ts';
export type { RedisInfo } from './info.ts';
export { type ReplicaState, readReplicaState, restoreRequirement, waiveReplica } from './replicas.ts';
export { type RedisSettings, readRedisSettings } from './settings.ts';
