"""What people see: the Streamlit server, its views, the player component."""
