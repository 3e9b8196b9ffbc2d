export {
  CHECK_TIMEOUT_MS,
  type Check,
  type Diagnosis,
  type Finding,
  type Findings,
  ok,
  report,
  warning,
  wrong,
} from './diagnosis.ts';
export { examine } from './examine.ts';
export { forgetReplica } from './replica-waiver.ts';
