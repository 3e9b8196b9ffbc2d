export { type Config, ConfigError, dataDirOf, readConfig, variablesOf } from './config.ts';
export type { Given, PlatformConfig } from './platform-config.ts';
export { followCatalog, readSettings, readSettingsOrExit, type Settings, type SettingsRead } from './settings.ts';
export type { TokenMistake } from './tokens.ts';
export { VERSION } from './version.ts';
