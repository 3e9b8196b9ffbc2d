import type { AccessRefusal } from '#src/chat/index.ts';

/** Explains why a user may not use the bot, in one private sentence. @param team the platform's word for a team. */
export function accessSentence(refusal: AccessRefusal, team = 'workspace'): string {
  switch (refusal.reason) {
    case 'external':
      return 'Only members of this workspace can order clips.';
    case 'guest':
      return 'Guests of this workspace can’t order clips. Ask a member.';
    case 'user_install':
      return 'I only work in servers that have added me. Ask an admin of this server.';
    case 'team':
      return teamSentence(refusal, team);
  }
}

function teamSentence({ platform, team }: AccessRefusal & { readonly reason: 'team' }, word: string): string {
  if (team === null) return 'I only work for members of a server that uses me.';
  return `This ${word} isn’t set up to use me. Your administrator can add ${platform}:${team} to ALLOW_TEAMS.`;
}

/** The administrators of a team, as its platform names them. */
const ADMINISTRATORS: Readonly<Record<string, string>> = {
  discord: 'members of this server with the “Manage Server” permission',
  slack: 'admins and owners of this workspace',
  playground: 'the operator, and people named in ADMINS,',
};

/** Refuses an administrative command or button to a user who may not administer the team. */
export function administratorsOnly(platform: string): string {
  return `Only ${ADMINISTRATORS[platform] ?? 'administrators of this team'} can do this. Nothing was changed.`;
}

/** Reply if the platform did not identify the user in time. */
export const NOT_KNOWN = 'I couldn’t find out who you are just now, so I did nothing. Try again in a little while.';
