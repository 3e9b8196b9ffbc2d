const { PATH, NODE_COMPILE_CACHE } = process.env;

/** Environment that programs started by tests inherit; tests pass all other configuration. */
export const PROGRAM_ENV: Readonly<Record<string, string>> = {
  ...(PATH === undefined ? {} : { PATH }),
  ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
};
