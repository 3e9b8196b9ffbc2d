import { audit } from './administration/audit.ts';
import { pause } from './administration/pause.ts';
import { policy } from './administration/policy.ts';
import { review, settings } from './administration/settings.ts';
import { approvals } from './approvals/approvals.ts';
import { approvers } from './approvals/approvers.ts';
import type { Command } from './bot-port.ts';
import { cancel } from './cancel.ts';
import { compare } from './comparisons/compare.ts';
import { create } from './create.ts';
import { deleteClip } from './delete.ts';
import { gallery } from './gallery/gallery.ts';
import { helpOn } from './help.ts';
import type { Subcommand } from './input/subcommand.ts';
import { list } from './list.ts';
import { models } from './models.ts';
import { budget } from './money/budget.ts';
import { statement } from './money/statement.ts';
import { notify } from './notify.ts';
import { defaults } from './orders/defaults.ts';
import { erase, privacy } from './privacy/privacy.ts';
import { retry } from './retry.ts';
import { status } from './status.ts';
import { storyboard } from './storyboard/storyboard.ts';
import { library } from './studio/library.ts';
import { style } from './styles/style.ts';
import { usage } from './usage.ts';

const all: readonly Subcommand[] = [
  create,
  compare,
  status,
  list,
  gallery,
  cancel,
  retry,
  deleteClip,
  storyboard,
  models,
  usage,
  notify,
  defaults,
  privacy,
  library,
  style,
  policy,
  approvals,
  budget,
  statement,
  approvers,
  settings,
  review,
  pause,
  audit,
  erase,
];

/** The subcommands of `/video`, in the order of the help. */
export const subcommands: readonly Subcommand[] = [...all, helpOn(all.map(({ declaration }) => declaration))];

/** Names, descriptions and options of the subcommands, which a platform registers. */
export const declarations: readonly Command[] = subcommands.map(({ declaration }) => declaration);
