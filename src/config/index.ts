export { type Config, ConfigError, dataDirOf, isSandboxed, readConfig, variablesOf } from './config.ts';
export type { Given, PlatformConfig, TokenMistake } from './platform-config.ts';
export {
  followFiles,
  isReloadable,
  readSettings,
  readSettingsOrExit,
  type Settings,
  type SettingsRead,
} from './settings.ts';
export { VERSION } from './version.ts';
