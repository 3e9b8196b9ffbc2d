import { AuditTrail } from '../../teams/index.ts';
import { type DecisionsOptions, StatementDecisions } from './decisions.ts';
import { StatementImports } from './imports.ts';

/** Imported statements of the video service, and the decisions on them. */
export interface Statements {
  readonly imports: StatementImports;
  readonly decisions: StatementDecisions;
}

/** Creates the statements of a bot. */
export function createStatements(options: Omit<DecisionsOptions, 'imports' | 'audit'>): Statements {
  const { store, clock } = options;
  const audit = new AuditTrail(store, clock);
  const imports = new StatementImports(store, audit, clock);
  return { imports, decisions: new StatementDecisions({ ...options, imports, audit }) };
}
