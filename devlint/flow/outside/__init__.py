"""Things the program does not define: objects of libraries, and what cannot be looked into."""
