const { PATH, NODE_COMPILE_CACHE } = process.env;

/** What a program that a test starts inherits; everything else it is to be configured with is said by the test. */
export const PROGRAM_ENV: Readonly<Record<string, string>> = {
  ...(PATH === undefined ? {} : { PATH }),
  ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
};
