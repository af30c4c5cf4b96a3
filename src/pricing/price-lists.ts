/** How the list of prices calls providers that it knows by another name than ours. */
const otherNames: Readonly<Record<string, string>> = {
  vertex: 'google',
  xai: 'x-ai',
  moonshot: 'moonshotai',
  zhipu: 'zhipuai',
};

/** The name under which a provider's prices are listed, if they are. */
export function listName(provider: string): string {
  return otherNames[provider] ?? provider;
}
