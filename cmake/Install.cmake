# filled as there is something to install
