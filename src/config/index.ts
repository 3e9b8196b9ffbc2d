export { type Config, ConfigError, dataDirOf, isSandboxed, readConfig, variablesOf } from './config.ts';
export type { Given, PlatformConfig } from './platform-config.ts';
export {
  followFiles,
  isReloadable,
  readSettings,
  readSettingsOrExit,
  type Settings,
  type SettingsRead,
} from './settings.ts';
export type { TokenMistake } from './tokens.ts';
export { VERSION } from './version.ts';
