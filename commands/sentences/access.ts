import type { AccessRefusal } from '#src/chat/access.ts';

/** Why someone may not use the bot: the one private sentence that they get. */
export function accessSentence(refusal: AccessRefusal): string {
  switch (refusal.reason) {
    case 'external':
      return 'Only members of this workspace can order clips.';
    case 'guest':
      return 'Guests of this workspace can’t order clips. Ask a member.';
    case 'user_install':
      return 'I only work in servers that have added me. Ask an admin of this server.';
    case 'team':
      return teamSentence(refusal);
  }
}

function teamSentence({ platform, team }: AccessRefusal & { readonly reason: 'team' }): string {
  if (team === null) return 'I only work for members of a server that uses me.';
  const where = platform === 'discord' ? 'server' : 'workspace';
  return `This ${where} isn’t set up to use me. Whoever runs me can add ${platform}:${team} to ALLOW_TEAMS.`;
}

/** Where the platform did not say in time who it is that asks. */
export const NOT_KNOWN = 'I couldn’t find out who you are just now, so I did nothing. Try again in a little while.';
