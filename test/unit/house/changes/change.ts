import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '#test/fakes/sandbox-client.ts';

const TOP = join(import.meta.dirname, '../../../..');
const run = promisify(execFile);

/** Lines that a change puts into a file, before the first line that contains a text; words, right before the text. */
export interface Insertion {
  readonly file: string;
  readonly before: string;
  /** Words have no line feed. */
  readonly lines: string;
}

/** Copy of the product, which a test changes. */
export class ProductCopy {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Copies this copy, with what tsc knows of it, to a folder of the current test. */
  async copy(): Promise<ProductCopy> {
    const folder = await temporaryFolder();
    await cp(this.#folder, folder, { recursive: true, verbatimSymlinks: true });
    return new ProductCopy(folder);
  }

  static async make(folder: string): Promise<ProductCopy> {
    const copied = ['src', 'commands', 'adapters', 'package.json'];
    await Promise.all(copied.map((path) => cp(join(TOP, path), join(folder, path), { recursive: true })));
    await symlink(join(TOP, 'node_modules'), join(folder, 'node_modules'));
    const compilerOptions = { incremental: true, tsBuildInfoFile: 'checked.json' };
    const config = { extends: join(TOP, 'tsconfig.json'), compilerOptions, include: ['src', 'commands', 'adapters'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    return new ProductCopy(folder);
  }

  /** @throws where the file has no such line */
  async insert({ file, before, lines }: Insertion): Promise<void> {
    const text = await readFile(join(this.#folder, file), 'utf8');
    if (!text.includes(before)) throw new Error(`${file} has no line with ${before}`);
    const place = text.indexOf(before);
    const at = lines.endsWith('\n') ? text.lastIndexOf('\n', place) + 1 : place;
    await writeFile(join(this.#folder, file), text.slice(0, at) + lines + text.slice(at));
  }

  /** Adds a file. */
  async add(file: string, text: string): Promise<void> {
    await writeFile(join(this.#folder, file), text);
  }

  /** Returns the files in which tsc finds an error. */
  async filesWithErrors(): Promise<readonly string[]> {
    const args = [join(TOP, 'node_modules/typescript-compiler/bin/tsc'), '--pretty', 'false'];
    const failed = (error: { readonly stdout: string }) => error;
    const { stdout } = await run(process.execPath, args, { cwd: this.#folder }).catch(failed);
    const errors = stdout.matchAll(/^(?:(\S+)\(\d+,\d+\): )?error (.*)$/gmu);
    return [...new Set([...errors].map(([, file, error]) => file ?? error ?? ''))];
  }

  /** Runs a program. @returns what it prints, as JSON. */
  async printedBy(program: string): Promise<unknown> {
    await this.add('printing.ts', program);
    const args = ['--disable-warning=ExperimentalWarning', 'printing.ts'];
    const { stdout } = await run(process.execPath, args, { cwd: this.#folder });
    return JSON.parse(stdout);
  }
}
